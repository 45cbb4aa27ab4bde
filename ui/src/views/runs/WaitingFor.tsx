import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";

import type { Schemas } from "../../lib/api/client.ts";
import { queries, type Gate, type Run } from "../../lib/api/queries.ts";
import { count } from "../../lib/numbers.ts";
import { coarse, relative, useNow } from "../../lib/time.ts";

type Wait = Schemas["Wait"];

const KINDS: Readonly<Record<Wait["kind"], string>> = {
  worker: "a worker", sleep: "a sleep", timer: "a timer", retry: "a retry", siblings: "its siblings", branch: "a branch",
  turn: "a turn", subworkflow: "a run it called", agent: "an agent", gate: "an answer", signal: "a signal",
};

/** What a wait is for, in words: `an answer to “Appeal a?”`. */
export function waitText(wait: Pick<Wait, "kind" | "label" | "node">): string {
  const what = KINDS[wait.kind];
  if (wait.kind === "gate" && wait.label !== null) return `an answer to “${wait.label}”`;
  return wait.label === null ? `${what} at ${wait.node}` : `${what}: ${wait.label}`;
}

function Since({ at, due }: { readonly at: string; readonly due: string | null }): ReactNode {
  const now = useNow();
  return <span className="muted numbers">{` · ${coarse(now - new Date(at).getTime())}${due === null ? "" : `, due ${relative(due, now)}`}`}</span>;
}

/** The column that matters: who or what a run waits for, since when, due when; of a failure its type and node. */
export function WaitingFor({ run, gates }: { readonly run: Run; readonly gates: ReadonlyMap<string, readonly Gate[]> }): ReactNode {
  if (run.error !== null) {
    const { type, node, message } = run.error;
    return (
      <span className="given" title={message}>
        <span className="look-failed" style={{ color: "var(--look)" }}>{type}</span>
        {node !== null && <> at <code>{node}</code></>}
        <span className="muted"> {message}</span>
      </span>
    );
  }
  if (run.status === "running") return <Progress run={run.run_id} />;
  if (run.status !== "waiting") return null;
  const open = gates.get(run.run_id);
  const [gate] = open ?? [];
  if (open !== undefined && gate !== undefined) {
    return <span className="given">{`an answer to “${gate.title}”`}{open.length > 1 && ` and ${String(open.length - 1)} more`}<Since at={gate.since} due={gate.due} /></span>;
  }
  return <Explained run={run.run_id} />;
}

/** How far the newest fan-out of a run is, for the rows in view only: `8,412 of 10,000`. */
function Progress({ run }: { readonly run: string }): ReactNode {
  const { data } = useQuery({ ...queries.progress(run), staleTime: 5_000, refetchInterval: 5_000 });
  const group = data?.groups.findLast((each) => each.live > 0);
  if (group === undefined) return null;
  const settled = group.total - group.live;
  return (
    <span className="progress-cell">
      <span className="numbers">{`${count(settled)} of ${count(group.total)}`}</span>
      <progress aria-hidden="true" value={settled} max={group.total} />
      {group.lost > 0 && <span className="numbers look-failed" style={{ color: "var(--look)" }}>{`${count(group.lost)} lost`}</span>}
    </span>
  );
}

/** What is no gate is asked of the run itself, for the rows in view only. */
function Explained({ run }: { readonly run: string }): ReactNode {
  const { data } = useQuery({ ...queries.explain(run), staleTime: 30_000 });
  const waits = data?.waits ?? [];
  const [wait] = waits;
  if (wait === undefined) return null;
  const many = waits.reduce((sum, each) => sum + 1 + each.alike, 0);
  return <span className="given">{waitText(wait)}{many > 1 && ` and ${count(many - 1)} more`}<Since at={wait.since} due={wait.due} /></span>;
}
