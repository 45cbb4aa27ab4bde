/** What the view shows, from the address: `?q=…&status=failed,waiting&workflow=panel&time=24h`. */
import type { RunFilter, RunStatus } from "../../lib/api/queries.ts";
import { RUN_STATUSES } from "../../lib/statuses.ts";

export const TIMES: readonly (readonly [string, string])[] = [
  ["", "Any time"], ["15m", "15 min"], ["1h", "1 h"], ["24h", "24 h"], ["7d", "7 days"],
];
const LENGTHS: Readonly<Record<string, number>> = { "15m": 900_000, "1h": 3_600_000, "24h": 86_400_000, "7d": 604_800_000 };
const ROUND = 60_000; // the same minute is the same list

export function statusesIn(parameters: URLSearchParams): RunStatus[] {
  const wanted = (parameters.get("status") ?? "").split(",");
  return RUN_STATUSES.filter((status) => wanted.includes(status));
}

/** The server's filter for these parameters. */
export function filterOf(parameters: URLSearchParams, now: number): RunFilter {
  const filter: RunFilter = {};
  const q = parameters.get("q")?.trim() ?? "";
  const statuses = statusesIn(parameters);
  const workflow = parameters.get("workflow") ?? "";
  const length = LENGTHS[parameters.get("time") ?? ""];
  const since = parameters.get("since") ?? (length === undefined ? null : new Date(Math.floor((now - length) / ROUND) * ROUND).toISOString());
  const until = parameters.get("until");
  if (q !== "") filter.q = q;
  if (statuses.length > 0) filter.status = statuses.join(",");
  if (workflow !== "") filter.workflow = workflow;
  if (since !== null) filter.since = since;
  if (until !== null) filter.until = until;
  return filter;
}

const FIELDS = ["workflow:", "status:", "trigger:", "key:", "error:", "node:", "state."];

/** How the last word of a query may go on: fields, statuses, workflows. */
export function completions(q: string, workflows: readonly string[]): string[] {
  const word = /(?:^|\s)(\S*)$/.exec(q)?.[1] ?? "";
  if (word === "") return [];
  const before = q.slice(0, q.length - word.length);
  const [field, value] = word.includes(":") ? [word.slice(0, word.indexOf(":") + 1), word.slice(word.indexOf(":") + 1)] : [word, null];
  const values = field === "status:" ? RUN_STATUSES : field === "workflow:" ? workflows : [];
  const words = value === null ? FIELDS : values.map((each) => field + each);
  return words.filter((each) => each.startsWith(word) && each !== word).slice(0, 8).map((each) => before + each);
}
