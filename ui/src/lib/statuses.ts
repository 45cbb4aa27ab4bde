/** Statuses of runs, tokens and nodes: the look of each. The word is the status itself, as commands and queries have it. Colours are in styles/tokens.css by the same name. */
import type { RunStatus } from "./api/queries.ts";

export const RUN_STATUSES: readonly RunStatus[] = [
  "running", "waiting", "failed", "completed", "cancelled", "timed_out", "exhausted", "submitted",
];

export const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "cancelled", "timed_out", "exhausted"]);
export const RETRYABLE: ReadonlySet<string> = new Set(["failed", "timed_out", "exhausted"]);

/** How a status looks; several names of statuses share a look. */
export type Look =
  | "running" | "waiting" | "failed" | "completed" | "cancelled" | "timed-out" | "exhausted" | "submitted" | "paused" | "idle";

const LOOKS: Readonly<Record<string, Look>> = {
  running: "running", executing: "running", active: "running", dispatched: "running",
  waiting: "waiting", parked: "waiting", open: "waiting",
  failed: "failed", error: "failed", refused: "failed", damaged: "failed",
  completed: "completed", done: "completed", ok: "completed", answered: "completed",
  cancelled: "cancelled", stopped: "cancelled", skipped: "cancelled", disabled: "cancelled", revoked: "cancelled",
  timed_out: "timed-out", exhausted: "exhausted", paused: "paused",
  submitted: "submitted", pending: "submitted",
};

/** The look of a status. One that is not known looks idle. */
export function lookOf(status: string): Look {
  return LOOKS[status] ?? "idle";
}
