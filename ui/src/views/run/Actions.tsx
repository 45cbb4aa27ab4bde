import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import { useMay } from "../../frame/session.ts";
import { api } from "../../lib/api/client.ts";
import type { RunRecord } from "../../lib/api/queries.ts";
import { command } from "../../lib/command.ts";
import { navigate } from "../../lib/location.ts";
import { ENDED, RETRYABLE } from "../../lib/statuses.ts";
import { ActionDialog } from "../../parts/ActionDialog.tsx";
import { Button } from "../../parts/Button.tsx";
import { ForkDialog } from "./ForkDialog.tsx";

type Open = "cancel" | "pause" | "unpause" | "retry" | "fork" | null;

/** What can be done with a run. Each opens a dialog with its command. */
export function Actions({ record, at, last }: { readonly record: RunRecord; readonly at: number | null; readonly last: number }): ReactNode {
  const client = useQueryClient();
  const [open, setOpen] = useState<Open>(null);
  const run = record.run_id;
  const ended = ENDED.has(record.status);
  const close = (): void => setOpen(null);
  const refresh = (): void => void client.invalidateQueries({ queryKey: ["run", run] });
  if (!useMay("run")) return null;
  return (
    <div className="run-actions">
      {record.paused ? (
        <Button disabled={ended} onClick={() => setOpen("unpause")}>Unpause run</Button>
      ) : (
        <Button disabled={ended} onClick={() => setOpen("pause")}>Pause run</Button>
      )}
      <Button disabled={ended} onClick={() => setOpen("cancel")}>Cancel run</Button>
      <Button disabled={!RETRYABLE.has(record.status)} onClick={() => setOpen("retry")}>Retry run</Button>
      <Button disabled={last < 0} onClick={() => setOpen("fork")}>Fork</Button>
      {open === "cancel" && (
        <ActionDialog
          title="Cancel run" danger hasReason onClose={close} onDone={refresh} done={() => `Run ${run} cancelled`}
          command={(reason) => command("cancel", [run], { reason })}
          act={(reason) => api.post("/v1/runs/{run}/cancel", { path: { run }, body: { reason } })}
        >
          Its tasks are stopped, and nothing new starts. This cannot be undone.
        </ActionDialog>
      )}
      {open === "pause" && (
        <ActionDialog
          title="Pause run" onClose={close} onDone={refresh} done={() => `Run ${run} paused`}
          command={() => command("pause", [run])} act={() => api.post("/v1/runs/{run}/pause", { path: { run } })}
        >
          Running tasks finish; nothing new starts, here and in the runs it called, until it is unpaused.
        </ActionDialog>
      )}
      {open === "unpause" && (
        <ActionDialog
          title="Unpause run" onClose={close} onDone={refresh} done={() => `Run ${run} unpaused`}
          command={() => command("unpause", [run])} act={() => api.post("/v1/runs/{run}/unpause", { path: { run } })}
        >
          It goes on where it was.
        </ActionDialog>
      )}
      {open === "retry" && (
        <ActionDialog
          title="Retry run" onClose={close} done={(record) => `Run ${record.run_id} started`}
          onDone={(record) => navigate(`/runs/${record.run_id}`)}
          command={() => command("retry", [run], { wait: 0 })} act={() => api.post("/v1/runs/{run}/retry", { path: { run }, body: {} })}
        >
          A new run shares the history of this one and does again what failed. What succeeded is not repeated.
        </ActionDialog>
      )}
      {open === "fork" && <ForkDialog title="Fork" run={run} at={at ?? last} last={last} onClose={close} />}
    </div>
  );
}
