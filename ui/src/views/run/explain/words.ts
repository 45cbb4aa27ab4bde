/** Explanations in words, the same as `jeton explain` has. */
import type { Schemas } from "../../../lib/api/client.ts";
import { count } from "../../../lib/numbers.ts";

export type Wait = Schemas["Wait"];
export type Considered = Schemas["ConsideredTransition"];
export type Routing = Schemas["Routing"];
export type Cancelled = Schemas["Cancelled"];
export type FanIn = Schemas["FanInView"];

const MOST_TEXT = 200;
const MOST_RANGES = 20;

/** A value as JSON, cut if it is long. */
export function brief(value: unknown): string {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) return "no value";
  return text.length <= MOST_TEXT ? text : `${text.slice(0, MOST_TEXT)}…`;
}

/** What a token waits for, as a noun phrase. */
export function awaited(wait: Pick<Wait, "kind" | "label" | "attempt" | "child" | "waits_for">): string {
  switch (wait.kind) {
    case "worker": return "a worker";
    case "sleep": return `the end of its sleep '${wait.label ?? ""}'`;
    case "timer": return wait.label === null ? "a time" : `a time (${wait.label})`;
    case "retry": return `attempt ${String(wait.attempt)}`;
    case "subworkflow": return `run ${wait.child ?? ""} (${wait.label ?? ""})`;
    case "agent": return `an answer of agent '${wait.label ?? ""}'`;
    case "gate": return `an answer to "${wait.label ?? ""}"`;
    case "signal": return `the signal '${(wait.label ?? "").replaceAll(", ", "' or '")}'`;
    case "siblings": return "its siblings";
    case "branch": return `the rest of its branch (${tokens(wait.waits_for)})`;
    case "turn": return "its turn";
  }
}

/** Token numbers, with three or more in a row as a range. */
export function tokens(numbers: readonly number[]): string {
  const parts: string[] = [];
  const sorted = numbers.toSorted((a, b) => a - b);
  for (let at = 0; at < sorted.length; ) {
    let end = at;
    while (sorted[end + 1] === (sorted[end] ?? 0) + 1) end += 1;
    const row = sorted.slice(at, end + 1);
    if (row.length < 3) parts.push(...row.map(String));
    else parts.push(`${String(row[0])} to ${String(row.at(-1))}`);
    at = end + 1;
  }
  const more = parts.length > MOST_RANGES ? ` and ${count(parts.length - MOST_RANGES)} more ranges` : "";
  return `token${numbers.length === 1 ? "" : "s"} ${parts.slice(0, MOST_RANGES).join(", ")}${more}`;
}

function withValues(values: Readonly<Record<string, unknown>>): string {
  const shown = Object.entries(values).map(([path, value]) => `${path} = ${brief(value)}`).join(", ");
  return shown === "" ? "" : ` (${shown})`;
}

/** The verdict over a transition, with the values that its condition read. */
export function verdict(seen: Considered): string {
  switch (seen.verdict) {
    case "matched":
    case "false": return `${seen.verdict}${withValues(seen.values)}`;
    case "missing": return `false, no value at ${seen.missing ?? ""}${withValues(seen.values)}`;
    case "loop_limit_reached": return `at its limit, taken ${String(seen.iterations)} of ${String(seen.max_iterations)} times`;
    case "not_first": return "not evaluated, an earlier one matched";
    case "not_reached": return "not evaluated, the run failed before it";
    case "tier_decided": return "not evaluated, a higher priority matched";
    case "not_for_failures": return "not evaluated, it does not read state._last_error";
    case "error": return `error, ${seen.problem ?? ""}${withValues(seen.values)}`;
  }
}

/** What became of a token that was routed. */
export function outcome(routing: Routing): string {
  if (routing.considered.length === 0) return "no transition leaves it";
  if (routing.parked_at !== null) return `went to the fan-in at '${routing.parked_at}'`;
  if (routing.created.length > 0) return `created ${tokens(routing.created)}`;
  return routing.ends === null ? "" : `ended ${routing.ends.replaceAll("_", " ")}`;
}

export function fanInWords(fanIn: FanIn): string {
  return `fan-in at '${fanIn.node}' (${fanIn.strategy}): ${count(fanIn.arrived)} of ${count(fanIn.needed)} needed arrived, ${count(fanIn.live)} live, ${count(fanIn.lost)} lost of ${count(fanIn.total)}`;
}

/** Values that are alike, in the order of the first: so that 2,000 of them are one sentence. */
export function alike<T>(values: readonly T[], key: (value: T) => string): T[][] {
  return [...Map.groupBy(values, key).values()];
}

/** How many values there are, with those that were left out because they are alike. */
export function manyOf(values: readonly { readonly alike: number }[]): number {
  return values.reduce((sum, each) => sum + 1 + each.alike, 0);
}

/** What makes two routings alike: the node, the verdicts, and what became of the token. */
export function routingKey(routing: Routing): string {
  const verdicts = routing.considered.map((seen) => `${String(seen.transition)}:${seen.verdict}`).join();
  return [routing.node, routing.after, verdicts, routing.parked_at, routing.ends, routing.created.length > 0].join(" ");
}

export function cancelledKey(cancelled: Cancelled): string {
  return [cancelled.entry, cancelled.status, cancelled.reason, cancelled.request, cancelled.by_run].join(" ");
}

/** Why tokens were stopped, by the same decision. */
export function stopped(group: readonly Cancelled[]): string {
  const [first] = group;
  if (first === undefined) return "";
  const asked = first.request ?? "";
  const by = first.by_run === null ? (asked === "" ? "" : ` (asked: ${asked})`) : ` (by run ${first.by_run}, which called this one: ${asked === "" ? "it stopped waiting" : asked})`;
  const left = manyOf(group) - group.length;
  const more = left === 0 ? "" : ` and ${count(left)} more`;
  return `${tokens(group.map((each) => each.token))}${more} ${first.status.replaceAll("_", " ")} in entry ${String(first.entry)}: ${first.reason}${by}`;
}
