import type { StreamState } from "../lib/stream/stream.ts";
import { hours } from "../lib/time.ts";

const SOON = 5_000;

/** The connection in words: `live`, `reconnecting`, `stale since 08:03`. */
export function connectionText(state: StreamState, now: number): ["live" | "reconnecting" | "stale", string] {
  if (state.kind === "live" || state.kind === "ended") return ["live", "live"];
  if (state.kind === "connecting" || now - state.since < SOON) return ["reconnecting", "reconnecting"];
  return ["stale", `stale since ${hours(new Date(state.since), false)}`];
}
