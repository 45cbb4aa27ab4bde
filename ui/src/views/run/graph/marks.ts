/** What of a run is drawn on the picture: counts in words, taken and refused edges, strips of fan-outs. */
import type { Schemas } from "../../../lib/api/client.ts";
import { count } from "../../../lib/numbers.ts";
import type { Look } from "../../../lib/statuses.ts";
import { PLACES, NONE, type Counts, type NodeCounts, type Place } from "../store/journal.ts";
import type { Scene } from "./scene.ts";

export type Group = Schemas["GroupProgress"];

/** The look of each place, as tokens.css has its colours. */
export const LOOK_OF: Readonly<Record<Place, Look>> = {
  active: "running", waiting: "waiting", done: "completed", failed: "failed", stopped: "cancelled", skipped: "cancelled",
};
export const GLYPHS: Readonly<Record<Place, string>> = { active: "●", waiting: "◔", done: "✓", failed: "✗", stopped: "⊘", skipped: "↷" };

/** `2 active · 1 done`, or `idle`. */
export function countsText(counts: Counts = NONE): string {
  const parts = PLACES.filter((place) => counts[place] > 0).map((place) => `${count(counts[place])} ${place}`);
  return parts.length === 0 ? "idle" : parts.join(" · ");
}

/** What gives a node its colour: activity first, then failures, then completion. */
export function toneOf(counts: Counts = NONE): Look {
  for (const place of ["active", "waiting", "failed", "done", "stopped", "skipped"] as const) if (counts[place] > 0) return LOOK_OF[place];
  return "idle";
}

/** Verdicts as short as an edge has room for. */
const REFUSALS: Readonly<Record<string, string>> = {
  false: "false", missing: "no value", loop_limit_reached: "at its limit", not_first: "another matched", not_reached: "not reached",
  tier_decided: "another matched", not_for_failures: "not for failures", error: "error",
};

export interface EdgeMark {
  readonly taken: number;
  readonly refused: number;
  /** How often a loop was taken, of how often it may be. */
  readonly loop: string | null;
  /** Why it was not taken, if it never was. */
  readonly verdict: string | null;
}

/** What became of each transition. Without an explanation, taken is what the counts leave no doubt about. */
export function edgeMarks(scene: Scene, counts: NodeCounts, explained: Schemas["RunExplained"] | undefined): Map<number, EdgeMark> {
  const marks = new Map<number, EdgeMark>();
  if (explained === undefined) {
    for (const arrow of scene.arrows) {
      const [from, to] = [counts[arrow.from] ?? NONE, counts[arrow.to] ?? NONE];
      const came = to.active + to.waiting + to.done + to.failed + to.stopped;
      if (from.done > 0 && came > 0 && scene.into.get(arrow.to)?.length === 1) marks.set(arrow.id, { taken: came, refused: 0, loop: null, verdict: null });
    }
    return marks;
  }
  for (const node of explained.nodes) {
    for (const each of node.incoming) {
      const arrow = scene.into.get(node.node)?.find((known) => known.from === each.source && !marks.has(known.id));
      if (arrow !== undefined && each.fate !== "open") marks.set(arrow.id, { taken: each.fate === "delivered" ? 1 : 0, refused: each.fate === "delivered" ? 0 : 1, loop: null, verdict: each.fate === "delivered" ? null : each.fate });
    }
  }
  for (const routing of explained.routings) {
    for (const seen of routing.considered) {
      const known = marks.get(seen.transition) ?? { taken: 0, refused: 0, loop: null, verdict: null };
      const matched = seen.verdict === "matched";
      const many = 1 + routing.alike;
      const taken = known.taken + (matched ? many : 0);
      const limit = seen.max_iterations;
      marks.set(seen.transition, {
        taken, refused: known.refused + (matched ? 0 : many),
        loop: limit === null ? known.loop : `${String(Math.min(limit, (seen.iterations ?? 0) + (matched ? 1 : 0)))} of ${String(limit)}`,
        verdict: taken > 0 ? null : (REFUSALS[seen.verdict] ?? null),
      });
    }
  }
  return marks;
}

export interface Strip {
  readonly group: Group;
  /** The node it is drawn at: where the fan-out leads. */
  readonly node: string;
  /** How many other fan-outs there were from the same node. */
  readonly others: number;
}

/** One strip for each node that fanned out: its newest fan-out. */
export function stripsOf(scene: Scene, groups: readonly Group[]): Strip[] {
  const strips = new Map<string, Strip>();
  for (const group of groups) {
    const arrow = scene.out.get(group.node)?.find((each) => each.fansOut);
    if (arrow === undefined) continue;
    const known = strips.get(arrow.to);
    strips.set(arrow.to, { group, node: arrow.to, others: known === undefined ? 0 : known.others + 1 });
  }
  return [...strips.values()];
}

/** `Group judges: 2 arrived, 0 live, 1 lost of 3`. */
export function stripName(group: Group): string {
  return `Group ${group.name}: ${count(group.arrived)} arrived, ${count(group.live)} live, ${count(group.lost)} lost of ${count(group.total)}`;
}

export type SlotRuns = Schemas["SlotsView"]["runs"];
type SlotStatus = SlotRuns[number][0];
const WORST: readonly SlotStatus[] = ["failed", "stopped", "waiting", "active", "idle", "done"];
export const SLOT_LOOKS: Readonly<Record<SlotStatus, Look>> = {
  failed: "failed", stopped: "cancelled", waiting: "waiting", active: "running", idle: "idle", done: "completed",
};

/** The status of each of `bins` parts of a strip: of several slots in one, the worst wins. */
export function binned(runs: SlotRuns, total: number, bins: number): SlotStatus[] {
  const worst = new Array<number>(bins).fill(WORST.length);
  for (const [status, first, many] of runs) {
    const rank = WORST.indexOf(status);
    const from = Math.floor((first * bins) / total);
    const to = Math.min(bins - 1, Math.floor(((first + many) * bins - 1) / total));
    for (let bin = from; bin <= to; bin += 1) if (rank < (worst[bin] ?? 0)) worst[bin] = rank;
  }
  return worst.map((rank) => WORST[rank] ?? "idle");
}
