import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import { api, type Schemas } from "../../lib/api/client.ts";
import type { Run, RunFilter } from "../../lib/api/queries.ts";
import { command } from "../../lib/command.ts";
import { count, counted } from "../../lib/numbers.ts";
import { ENDED, RETRYABLE } from "../../lib/statuses.ts";
import { ActionDialog } from "../../parts/ActionDialog.tsx";
import { Button } from "../../parts/Button.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { ProblemAlert } from "../../parts/ProblemAlert.tsx";
import { StatusBadge } from "../../parts/StatusBadge.tsx";
import { CloseIcon } from "../../parts/icons.tsx";

type Action = Schemas["ActionBody"]["action"];
type Refused = Schemas["RefusedRun"];

const ACTIONS: readonly { action: Action; title: string; fits: (run: Run) => boolean; tells: string; past: string }[] = [
  { action: "retry", title: "Retry", fits: (run) => RETRYABLE.has(run.status), tells: "A new run begins for each, where it failed. What succeeded is not repeated.", past: "retried" },
  { action: "cancel", title: "Cancel", fits: (run) => !ENDED.has(run.status), tells: "Their tasks are stopped, and nothing new starts. This cannot be undone.", past: "cancelled" },
  { action: "pause", title: "Pause", fits: (run) => !ENDED.has(run.status) && !run.paused, tells: "Running tasks finish; nothing new starts until the runs are unpaused.", past: "paused" },
  { action: "unpause", title: "Unpause", fits: (run) => run.paused, tells: "They go on where they were.", past: "unpaused" },
];

interface Props {
  readonly runs: readonly Run[];
  readonly filter: RunFilter;
  /** Whether the rows are all that the query finds. */
  readonly complete: boolean;
  readonly onClear: () => void;
}

/** What can be done with the selected runs, or with all that the query finds. */
export function Selection({ runs, filter, complete, onClear }: Props): ReactNode {
  const [open, setOpen] = useState<Action | null>(null);
  const [all, setAll] = useState(false);
  const [refused, setRefused] = useState<readonly Refused[]>([]);
  const client = useQueryClient();
  const chosen = ACTIONS.find((each) => each.action === open);
  const finish = (told: readonly Refused[]): void => {
    setRefused(told);
    void client.invalidateQueries({ queryKey: ["runs"] });
    if (told.length === 0) onClear();
  };
  return (
    <section aria-label="Selection" className="selection">
      <strong className="numbers">{all ? "All runs that match selected" : `${counted(runs.length, "run")} selected`}</strong>
      {!complete && !all && <Button small variant="quiet" onClick={() => setAll(true)}>Select all that match</Button>}
      <span className="spring" />
      {ACTIONS.map((each) => (
        <Button key={each.action} small disabled={!all && !runs.some(each.fits)} onClick={() => setOpen(each.action)}>{each.title}</Button>
      ))}
      <Button small square variant="quiet" aria-label="Clear selection" onClick={onClear}><CloseIcon size={12} /></Button>
      {chosen !== undefined && !all && (
        <ActionDialog
          title={chosen.title} danger={open === "cancel"} hasReason={open === "cancel"} onClose={() => setOpen(null)}
          command={(reason) => runs.map((run) => command(chosen.action, [run.run_id], { reason })).join("\n")}
          act={(reason) => api.post("/v1/runs/actions", { body: { action: chosen.action, runs: runs.map((run) => run.run_id), reason } })}
          done={(answer) => `${counted(answer.done.length, "run")} ${chosen.past}`}
          onDone={(answer) => finish(answer.refused)}
        >
          <p>{`${chosen.title} ${counted(runs.length, "run")}. ${chosen.tells}`}</p>
          <Tally runs={runs} />
        </ActionDialog>
      )}
      {chosen !== undefined && all && (
        <BulkDialog action={chosen} filter={filter} onClose={() => setOpen(null)} onDone={finish} />
      )}
      {refused.length > 0 && <RefusedDialog refused={refused} onClose={() => setRefused([])} />}
    </section>
  );
}

function Tally({ runs }: { readonly runs: readonly Run[] }): ReactNode {
  const counts = new Map<string, number>();
  for (const run of runs) counts.set(run.status, (counts.get(run.status) ?? 0) + 1);
  return <p className="tally">{[...counts].map(([status, number]) => <span key={status}>{count(number)} <StatusBadge status={status} plain /></span>)}</p>;
}

interface BulkProps {
  readonly action: (typeof ACTIONS)[number];
  readonly filter: RunFilter;
  readonly onClose: () => void;
  readonly onDone: (refused: readonly Refused[]) => void;
}

/** All that a query finds: a dry run first, then in pages with progress and `Stop`. */
function BulkDialog({ action, filter, onClose, onDone }: BulkProps): ReactNode {
  const body = (after: string | null, dry: boolean): Schemas["ActionBody"] => ({ action: action.action, query: { ...filter, after, limit: 1000 }, dry_run: dry });
  const dry = useQuery({ queryKey: ["runs", "dry", action.action, filter], queryFn: ({ signal }) => api.post("/v1/runs/actions", { body: body(null, true), signal }), staleTime: 0 });
  const [progress, setProgress] = useState<{ done: number; matched: number } | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [stop] = useState(() => ({ wanted: false }));
  const go = async (): Promise<void> => {
    setError(null);
    let after: string | null = null;
    let done = 0;
    let matched = 0;
    const refused: Refused[] = [];
    try {
      do {
        const answer: Schemas["ActionsDone"] = await api.post("/v1/runs/actions", { body: body(after, false) });
        done += answer.done.length;
        matched += answer.matched;
        refused.push(...answer.refused);
        after = answer.next;
        setProgress({ done, matched });
      } while (after !== null && !stop.wanted);
      onDone(refused);
      onClose();
    } catch (found) {
      setError(found);
    }
  };
  const many = dry.data === undefined ? "…" : `${dry.data.next === null ? "" : "more than "}${counted(dry.data.matched, "run")}`;
  return (
    <Dialog
      title={action.title} onClose={onClose} plainClose
      foot={<>
        <Button onClick={progress === null ? onClose : () => { stop.wanted = true; }}>{progress === null ? "Close" : "Stop"}</Button>
        <Button variant={action.action === "cancel" ? "danger" : "primary"} disabled={dry.data === undefined || progress !== null} onClick={() => void go()}>Confirm</Button>
      </>}
    >
      <p className="muted">{`${action.title} all that match: ${many}. ${action.tells}`}</p>
      {progress !== null && <p role="status" className="numbers">{`${count(progress.done)} of ${count(progress.matched)} ${action.past}`}</p>}
      {(dry.error ?? error) !== null && <ProblemAlert error={dry.error ?? error} />}
    </Dialog>
  );
}

function RefusedDialog({ refused, onClose }: { readonly refused: readonly Refused[]; readonly onClose: () => void }): ReactNode {
  return (
    <Dialog title={`${counted(refused.length, "run")} refused`} onClose={onClose}>
      <ul className="refused-runs">
        {refused.slice(0, 200).map((each) => <li key={each.run_id} className="given"><code>{each.run_id}</code> <span className="muted">{each.problem}</span></li>)}
      </ul>
      {refused.length > 200 && <p className="muted">{`and ${count(refused.length - 200)} more`}</p>}
    </Dialog>
  );
}
