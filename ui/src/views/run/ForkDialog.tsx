import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import { api } from "../../lib/api/client.ts";
import { command } from "../../lib/command.ts";
import { navigate } from "../../lib/location.ts";
import { ActionDialog } from "../../parts/ActionDialog.tsx";
import { TextField } from "../../parts/Field.tsx";
import { JsonField } from "../../parts/JsonField.tsx";
import { ProblemAlert } from "../../parts/ProblemAlert.tsx";
import { SkeletonRows } from "../../parts/Waiting.tsx";
import { ChangeList } from "./tabs/ChangeList.tsx";
import { differences, namesIn, type Change } from "./store/patch.ts";

/** What `set` must say for the state to become this one: the deepest places that a path can name. */
export function writesOf(before: unknown, after: unknown): Record<string, unknown> {
  const writes: Record<string, unknown> = {};
  for (const change of differences(before, after)) {
    const [path, value] = writable(change, after);
    writes[path] = value;
  }
  return writes;
}

/** A place as `state.a.b`. Inside a list, and where something is taken away, the nearest object above is written whole. */
function writable(change: Change, after: unknown): [string, unknown] {
  const names = namesIn(change.path);
  let value = after;
  const kept: string[] = [];
  for (const [depth, name] of names.entries()) {
    const inner: unknown = typeof value === "object" && value !== null && !Array.isArray(value) && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
    if (inner === undefined || !/^[A-Za-z_]\w*$/.test(name)) break;
    kept.push(name);
    value = inner;
    if (depth === names.length - 1) break;
  }
  const [first] = names;
  // the state itself cannot be written: a name that is taken away becomes null
  return kept.length === 0 && first !== undefined ? [`state.${first}`, null] : [["state", ...kept].join("."), value ?? null];
}

interface Props {
  readonly title: string;
  readonly run: string;
  readonly at: number;
  readonly last: number;
  readonly onClose: () => void;
}

/** Fork a run at an entry, with its state edited. Both runs are compared when it has begun. */
export function ForkDialog({ title, run, at: first, last, onClose }: Props): ReactNode {
  const [at, setAt] = useState(first);
  const [edited, setEdited] = useState<{ at: number; value: unknown } | null>(null);
  const context = useQuery({ queryKey: ["run", run, "context", at], queryFn: ({ signal }) => api.get("/v1/runs/{run}/context", { path: { run }, query: { at }, signal }), staleTime: Infinity });
  const before = context.data?.state ?? {};
  const mine = edited !== null && edited.at === at;
  const after = mine ? edited.value : before;
  const unreadable = mine && edited.value === undefined;
  const set = unreadable ? {} : writesOf(before, after);
  const line = [command("fork", [run], { at: String(at), wait: "0" }), ...Object.entries(set).map(([path, value]) => `--set ${shell(`${path}=${JSON.stringify(value)}`)}`)].join(" ");
  return (
    <ActionDialog
      title={title} onClose={onClose} blocked={context.data === undefined || unreadable || at < 0 || at > last}
      command={() => line}
      act={() => api.post("/v1/runs/{run}/fork", { path: { run }, body: { at, set } })}
      done={(record) => `Run ${record.run_id} started`}
      onDone={(record) => navigate(`/compare?a=${run}&b=${record.run_id}`)}
    >
      <div className="fork-form">
        <p>A new run shares the history of this one up to the entry, and goes on from there. Finished work is not repeated.</p>
        <TextField label="Entry" type="number" min={0} max={last} value={at} onChange={(event) => setAt(Math.max(0, Math.min(last, Number(event.target.value) || 0)))} />
        {context.isError && <ProblemAlert error={context.error} onRetry={() => void context.refetch()} />}
        {context.data === undefined && !context.isError && <SkeletonRows rows={3} label="The state is loading" />}
        {context.data !== undefined && <JsonField key={at} label="State (JSON)" value={after} onChange={(value) => setEdited({ at, value })} rows={8} />}
        {Object.keys(set).length > 0 && <section aria-label="Difference"><ChangeList changes={differences(before, after)} /></section>}
      </div>
    </ActionDialog>
  );
}

function shell(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
