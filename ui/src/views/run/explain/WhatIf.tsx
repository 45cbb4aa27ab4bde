import { useMutation, useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import { api, type Schemas } from "../../../lib/api/client.ts";
import { command, inline } from "../../../lib/command.ts";
import { Button } from "../../../parts/Button.tsx";
import { Command } from "../../../parts/Command.tsx";
import { Dialog } from "../../../parts/Dialog.tsx";
import { Choice, TextField } from "../../../parts/Field.tsx";
import { JsonField } from "../../../parts/JsonField.tsx";
import { ProblemAlert } from "../../../parts/ProblemAlert.tsx";
import { StatusBadge } from "../../../parts/StatusBadge.tsx";
import { reads } from "../reads.ts";
import { brief } from "./words.ts";

/** What a run would decide, and the nodes that it would touch. */
export interface Supposed {
  readonly token: number;
  readonly decisions: readonly Readonly<Record<string, unknown>>[];
  readonly status: string;
  readonly nodes: ReadonlySet<string>;
}

const ENDED = new Set(["completed", "failed", "timed_out", "cancelled"]);
type Kind = "result" | "failure" | "arrives_at";

/** The nodes that decisions name. */
function nodesIn(decisions: Supposed["decisions"]): Set<string> {
  const found = new Set<string>();
  for (const decision of decisions) {
    if (typeof decision["node"] === "string") found.add(decision["node"]);
    const made = decision["tokens"];
    if (Array.isArray(made)) for (const each of made as Record<string, unknown>[]) if (typeof each === "object" && typeof each["node"] === "string") found.add(each["node"]);
  }
  return found;
}

/** A decision in words: `create token · appeal`. */
export function decisionWords(decision: Readonly<Record<string, unknown>>): string {
  const kind = typeof decision["do"] === "string" ? decision["do"].replaceAll("_", " ") : "";
  const parts = [kind];
  for (const name of ["node", "token", "status", "reason", "title"]) {
    const value = decision[name];
    if (typeof value === "string" || typeof value === "number") parts.push(name === "token" ? `token ${String(value)}` : String(value));
  }
  return parts.join(" · ");
}

interface Props {
  readonly run: string;
  readonly token: number | null;
  readonly onClose: () => void;
  readonly onSupposed: (supposed: Supposed) => void;
}

/** What the run would decide if a token finished, failed or arrived. Nothing is changed. */
export function WhatIf({ run, token: first, onClose, onSupposed }: Props): ReactNode {
  const { data } = useQuery(reads.tokens(run, null));
  const live = (data ?? []).filter((token) => !ENDED.has(token.status)).slice(0, 500);
  const [chosen, setChosen] = useState(first);
  const token = chosen ?? live[0]?.id ?? null;
  const [kind, setKind] = useState<Kind>("result");
  const [result, setResult] = useState<unknown>({});
  const [text, setText] = useState("");
  const body: Schemas["WhatIfBody"] = { token: token ?? 0, ...(kind === "result" ? { result } : kind === "failure" ? { failure: text } : { arrives_at: text }) };
  const ask = useMutation({
    mutationFn: () => api.post("/v1/runs/{run}/simulate", { path: { run }, body }),
    onSuccess: (found) => onSupposed({ token: found.token, decisions: found.decisions, status: found.status, nodes: nodesIn(found.decisions) }),
  });
  const flags = kind === "result" ? { result: inline(result) } : kind === "failure" ? { failure: text } : { "arrives-at": text };
  return (
    <Dialog
      title="What if…" onClose={onClose} plainClose
      foot={<>
        <Button onClick={onClose}>Close</Button>
        <Button variant="primary" disabled={token === null || result === undefined || ask.isPending} onClick={() => ask.mutate()}>Suppose</Button>
      </>}
    >
      <p className="muted">Ask the run what it would decide. Nothing is changed.</p>
      <Choice label="Token" value={String(token ?? "")} onChange={(event) => { setChosen(Number(event.target.value)); ask.reset(); }} options={live.map((each) => [String(each.id), `${String(each.id)} at ${each.node}, ${each.status.replaceAll("_", " ")}`])} />
      <Choice label="It" value={kind} onChange={(event) => setKind(event.target.value as Kind)} options={[["result", "finishes with a result, an answer or a signal"], ["failure", "fails"], ["arrives_at", "arrives at a fan-in"]]} />
      {kind === "result" && <JsonField label="Result (JSON)" value={result} onChange={setResult} rows={4} />}
      {kind === "failure" && <TextField label="Message" value={text} onChange={(event) => setText(event.target.value)} />}
      {kind === "arrives_at" && <TextField label="Node of the fan-in" value={text} onChange={(event) => setText(event.target.value)} />}
      {token !== null && <Command text={command("what-if", [run, String(token)], flags)} />}
      {ask.isError && <ProblemAlert error={ask.error} />}
      {ask.data !== undefined && <Decided decisions={ask.data.decisions} status={ask.data.status} />}
    </Dialog>
  );
}

/** The decisions that would follow. */
export function Decided({ decisions, status }: Pick<Supposed, "decisions" | "status">): ReactNode {
  return (
    <section aria-label="Would decide" className="decided">
      <p>The run would be <StatusBadge status={status} /></p>
      <ol aria-label="Decisions">
        {decisions.slice(0, 50).map((decision, index) => <li key={index} className="given" title={brief(decision)}>{decisionWords(decision)}</li>)}
      </ol>
      {decisions.length > 50 && <p className="muted">{`and ${String(decisions.length - 50)} more`}</p>}
    </section>
  );
}
