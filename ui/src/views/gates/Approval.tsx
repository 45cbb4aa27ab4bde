import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import { useMay } from "../../frame/session.ts";
import { problemOf } from "../../lib/api/problem.ts";
import { queries, type Gate } from "../../lib/api/queries.ts";
import { useDraft } from "../../lib/drafts.ts";
import { Button } from "../../parts/Button.tsx";
import { Command } from "../../parts/Command.tsx";
import { TextField } from "../../parts/Field.tsx";
import { ProblemAlert } from "../../parts/ProblemAlert.tsx";
import { SchemaForm } from "../../parts/SchemaForm.tsx";
import { answerCommand, useAnswer } from "./answering.ts";
import { toolOf } from "./order.ts";
import { placesIn } from "./refusal.ts";
import "./gates.css";

interface Props {
  readonly gate: Gate;
  readonly by: string;
  /** The agent, where it is known: its definition has the schema of the tool's input. */
  readonly agent?: string | undefined;
  readonly onAnswered: (outcome: string) => void;
}

/** A tool's call that waits for a person: what it would be called with, and the three answers. */
export function Approval({ gate, by, agent, onAnswered }: Props): ReactNode {
  const tool = toolOf(gate) ?? gate.node;
  const schema = useToolSchema(gate, tool, agent);
  const [input, setInput, forget] = useDraft<unknown>(`approval:${gate.id}`, gate.input);
  const [reason, setReason] = useState("");
  const [unreadable, setUnreadable] = useState(false);
  const answer = useAnswer(gate, by, (outcome) => { forget(); onAnswered(outcome); });
  const changed = JSON.stringify(input) !== JSON.stringify(gate.input);
  const refused = answer.isError ? placesIn(problemOf(answer.error)) : [];
  const edited = { decision: "edit", input };
  return (
    <div role="group" aria-label={`Approval for ${tool}`} className="approval">
      <p className="muted">The agent wants to call <code className="given">{tool}</code> with this:</p>
      <SchemaForm
        schema={schema} value={input} jsonLabel="Input (JSON)" idPrefix={`approval-${gate.id.replace(":", "-")}`} refused={refused}
        onChange={(value) => {
          setUnreadable(value === undefined);
          if (value !== undefined) setInput(value);
        }}
      />
      <TextField label="Reason" value={reason} onChange={(event) => setReason(event.target.value)} hint="Told to the agent if you refuse." maxLength={1000} />
      <Command text={answerCommand(gate, changed ? edited : { decision: "approve" }, by)} />
      {answer.isError && refused.length === 0 && <ProblemAlert error={answer.error} />}
      <div className="approval-foot">
        <Button disabled={answer.isPending} onClick={() => answer.mutate({ decision: "refuse", ...(reason.trim() === "" ? {} : { reason: reason.trim() }) })}>Refuse</Button>
        <span className="spring" />
        <Button variant={changed ? "primary" : "plain"} disabled={answer.isPending || !changed || unreadable} onClick={() => answer.mutate(edited)}>Edit and approve</Button>
        <Button variant={changed ? "plain" : "primary"} disabled={answer.isPending} onClick={() => answer.mutate({ decision: "approve" })}>Approve</Button>
      </div>
    </div>
  );
}

/** The schema of a tool's input, out of the agent's definition; null: not known, so that the input is written as JSON. */
function useToolSchema(gate: Gate, tool: string, agent: string | undefined): object | null {
  const mayRead = useMay("read");
  const run = useQuery({ ...queries.run(gate.run_id), enabled: mayRead && agent === undefined, staleTime: Infinity });
  const workflow = agent !== undefined ? `agent:${agent}` : run.data?.workflow;
  const definition = useQuery({ ...queries.workflow(workflow ?? ""), enabled: mayRead && workflow !== undefined, staleTime: 60_000 });
  const tools = definition.data?.definition["tools"] as Readonly<Record<string, { input_schema?: object }>> | undefined;
  return tools?.[tool]?.input_schema ?? null;
}
