import { useQuery } from "@tanstack/react-query";
import { useId, type KeyboardEvent, type ReactNode } from "react";
import { Link } from "wouter";

import { useMay } from "../../frame/session.ts";
import { problemOf } from "../../lib/api/problem.ts";
import { queries, type Gate } from "../../lib/api/queries.ts";
import { useDraft } from "../../lib/drafts.ts";
import { relative, useNow } from "../../lib/time.ts";
import { Button } from "../../parts/Button.tsx";
import { Command } from "../../parts/Command.tsx";
import { Boundary } from "../../parts/Panel.tsx";
import { ProblemAlert } from "../../parts/ProblemAlert.tsx";
import { SchemaForm } from "../../parts/SchemaForm.tsx";
import { AlertIcon } from "../../parts/icons.tsx";
import { Approval } from "./Approval.tsx";
import { RestsOn } from "./RestsOn.tsx";
import { answerCommand, useAnswer } from "./answering.ts";
import { isOverdue, toolOf } from "./order.ts";
import { placesIn } from "./refusal.ts";

interface Props {
  readonly gate: Gate;
  readonly by: string;
  readonly onAnswered: (gate: Gate, outcome: string) => void;
}

/** One open gate: the question, what it rests on, and the form. */
export function GateCard({ gate, by, onAnswered }: Props): ReactNode {
  const id = useId();
  const mayAnswer = useMay("answer");
  const mayRead = useMay("read");
  const tool = toolOf(gate);
  return (
    <article aria-labelledby={id} className="panel gate" tabIndex={-1} data-gate={gate.id}>
      <header>
        <h2 id={id} className="given">{gate.title}</h2>
        <Facts gate={gate} />
      </header>
      {mayRead && tool === null && <Boundary><RestsOn run={gate.run_id} /></Boundary>}
      {!mayAnswer && <p className="muted">Your key may look at this, and not answer it.</p>}
      {mayAnswer && (tool === null ? <AnswerForm gate={gate} by={by} onAnswered={(outcome) => onAnswered(gate, outcome)} /> : (
        <form aria-label={`Answer ${gate.title}`} onSubmit={(event) => event.preventDefault()}>
          <Approval gate={gate} by={by} onAnswered={(outcome) => onAnswered(gate, outcome)} />
        </form>
      ))}
    </article>
  );
}

function Facts({ gate }: { readonly gate: Gate }): ReactNode {
  const now = useNow();
  const mayRead = useMay("read");
  const run = useQuery({ ...queries.run(gate.run_id), enabled: mayRead, staleTime: Infinity });
  const overdue = isOverdue(gate, now);
  const short = `${gate.run_id.slice(0, 7)}…`;
  const agent = run.data?.workflow.startsWith("agent:") === true;
  const place = agent ? `/chat/${gate.run_id}` : `/runs/${gate.run_id}`;
  return (
    <ul className="facts">
      {run.data !== undefined && <li className="given">{run.data.workflow}</li>}
      <li>{mayRead ? <Link href={place} className="link" title={gate.run_id}>{agent ? "conversation " : "run "}<span className="mono">{short}</span></Link> : <span title={gate.run_id}>run <span className="mono">{short}</span></span>}</li>
      <li className="numbers"><time dateTime={gate.since}>{`asked ${relative(gate.since, now)}`}</time></li>
      {gate.due !== null && <li className={overdue ? "overdue numbers" : "numbers"}>{overdue && <AlertIcon size={12} />}<time dateTime={gate.due}>{overdue ? `overdue, was due ${relative(gate.due, now)}` : `due ${relative(gate.due, now)}`}</time></li>}
      <li className="numbers">{`${String(gate.answers)} of ${String(gate.approvals)}`}<span className="hidden"> answers</span></li>
      {gate.answered_by.length > 0 && <li className="given">{`answered by ${gate.answered_by.join(", ")}`}</li>}
      <li className="given">{gate.assignees.length === 0 ? "anyone" : gate.assignees.join(", ")}</li>
    </ul>
  );
}

/** A first value that fits the kind of the schema, so that a form has something to fill. */
function firstOf(schema: object | null): unknown {
  const type = schema === null ? undefined : (schema as { type?: unknown }).type;
  if (type === "string") return undefined;
  if (type === "boolean" || type === "number" || type === "integer") return undefined;
  return type === "array" ? [] : {};
}

export function AnswerForm({ gate, by, onAnswered }: { readonly gate: Gate; readonly by: string; readonly onAnswered: (outcome: string) => void }): ReactNode {
  const [draft, setDraft, forget] = useDraft<{ value?: unknown }>(`gate:${gate.id}`, { value: firstOf(gate.schema) });
  const answer = useAnswer(gate, by, (outcome) => { forget(); onAnswered(outcome); });
  const refused = answer.isError ? placesIn(problemOf(answer.error)) : [];
  const send = (): void => answer.mutate(draft.value ?? null);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    send();
  };
  return (
    <form aria-label={`Answer ${gate.title}`} onKeyDown={onKeyDown} onSubmit={(event) => { event.preventDefault(); send(); }}>
      <SchemaForm
        schema={gate.schema} value={draft.value} jsonLabel="Answer (JSON)" idPrefix={`gate-${gate.id.replace(":", "-")}`} refused={refused}
        onChange={(value) => setDraft({ value })}
      />
      {answer.isError && refused.length === 0 && <ProblemAlert error={answer.error} />}
      <div className="gate-foot">
        <Command text={answerCommand(gate, draft.value, by)} />
        <Button type="submit" variant="primary" disabled={answer.isPending}>Answer</Button>
      </div>
    </form>
  );
}
