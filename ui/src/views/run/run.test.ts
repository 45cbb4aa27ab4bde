import { describe, expect, it } from "vitest";

import { writesOf } from "./ForkDialog.tsx";
import { nextFailure } from "./explain/GroupPanel.tsx";
import { alike, routingKey, tokens, verdict, type Considered, type Routing } from "./explain/words.ts";
import { held, showing, zoomed } from "./graph/camera.ts";
import { binned, countsText, stripsOf, type Group } from "./graph/marks.ts";
import { neighbour, sceneOf, type GraphView } from "./graph/scene.ts";
import { CHUNK, Journal, NONE, type Delta, type EntryView, type RunGraph, type Source } from "./store/journal.ts";
import { applyPatch, changesOf, differences, readablePath } from "./store/patch.ts";
import { placeOf, rowAt } from "./tabs/virtual.ts";
import { axisOf, placeOfTime, rowsOf, timeAt } from "./tabs/timeRows.ts";
import type { Token } from "./tabs/Tokens.tsx";

describe("patches", () => {
  it("leads from one value to another, and shares what did not change", () => {
    const before = { state: { a: [1, 2, 3], b: { c: 1 } }, output: {} };
    const after = applyPatch(before, [{ op: "replace", path: "/state/a/0", value: 9 }, { op: "remove", path: "/state/a/2" }, { op: "add", path: "/state/a/-", value: 4 }, { op: "add", path: "/state/x~1y", value: null }]);
    expect(after).toEqual({ state: { a: [9, 2, 4], b: { c: 1 }, "x/y": null }, output: {} });
    expect((after as typeof before).state.b).toBe(before.state.b);
    expect(before.state.a).toEqual([1, 2, 3]);
  });
  it("a name may be __proto__", () => {
    const after = applyPatch({}, [{ op: "add", path: "/__proto__", value: { x: 1 } }]) as Record<string, unknown>;
    expect(Object.keys(after)).toEqual(["__proto__"]);
    expect(after["x"]).toBeUndefined();
  });
  it("tells what was before", () => {
    expect(changesOf({ a: [1] }, [{ op: "add", path: "/a/-", value: 2 }, { op: "replace", path: "/a/1", value: 3 }])).toEqual([
      { path: "/a/1", before: undefined, after: 2 }, { path: "/a/1", before: 2, after: 3 },
    ]);
    expect(differences({ a: 1, b: [1, 2] }, { a: 1, b: [1, 3], c: null }).map((each) => each.path)).toEqual(["/b/1", "/c"]);
    expect(readablePath("/state/votes/2/points")).toBe("state.votes[2].points");
  });
  it("a fork writes whole paths", () => {
    expect(writesOf({ a: { b: 1, c: 2 }, l: [1], g: 1 }, { a: { b: 5, c: 2 }, l: [1, 2] })).toEqual({ "state.a.b": 5, "state.l": [1, 2], "state.g": null });
  });
});

/** A run of so many entries: each brings one token to `n`, and every 90th fails. */
function source(entries: () => number, asked: string[]): Source {
  const graph = (at: number): RunGraph => ({ entry: at, live: at === entries() - 1, nodes: { n: { ...NONE, done: at + 1, failed: Math.floor(at / 90) } }, groups: [] });
  const delta = (entry: number): Delta => ({ entry, at: "", nodes: { n: { done: 1, ...(entry % 90 === 0 ? { failed: 1 } : {}) } }, context: [{ op: "replace", path: "/state/n", value: entry }] });
  const range = <T,>(from: number, to: number, make: (at: number) => T): T[] => Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => make(from + index));
  const view = (number: number): EntryView => ({ number, at: "", first_event: number * 3, messages: [], decisions: [], text: `entry ${String(number)}` });
  const ask = <T,>(text: string, answer: T): Promise<T> => {
    asked.push(text);
    return Promise.resolve(answer);
  };
  return {
    graph: (at) => ask(`graph ${String(at)}`, graph(at ?? entries() - 1)),
    context: (at) => ask(`context ${String(at)}`, { input: null, state: { n: at }, output: null }),
    deltas: (from, to) => ask(`deltas ${String(from)} ${String(to)}`, range(from, to, delta)),
    entries: (after, limit) => ask(`entries ${String(after)}`, range(after + 1, Math.min(entries() - 1, after + limit), view)),
  };
}

const idle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

describe("the journal", () => {
  it("is folded at every entry, and asks nothing of what was fetched", async () => {
    const asked: string[] = [];
    const journal = new Journal(source(() => 450, asked));
    journal.start();
    await idle();
    const before = asked.length;
    for (let at = 0; at < 450; at += 1) {
      expect(journal.at(at)).toEqual({ counts: { n: { ...NONE, done: at + 1, failed: Math.floor(at / 90) } }, context: { input: null, state: { n: at }, output: null } });
      expect(journal.entry(at)?.number).toBe(at);
    }
    expect(journal.at(450)).toBeNull();
    expect(asked.length).toBe(before);
    expect([await journal.failure(100, 1), await journal.failure(100, -1), await journal.failure(449, 1)]).toEqual([180, 90, null]);
    journal.close();
  });
  it("of a long one, fetches what is looked at", async () => {
    const asked: string[] = [];
    const journal = new Journal(source(() => 100_000, asked));
    journal.look(50_123);
    journal.start();
    await idle();
    expect(journal.at(50_123)?.context).toEqual({ input: null, state: { n: 50_123 }, output: null });
    expect(journal.at(70_000)).toBeNull();
    expect(asked.filter((each) => each.startsWith("deltas")).length).toBeLessThan(8);
    journal.look(70_000);
    await idle();
    expect(journal.at(70_000)?.counts["n"]?.done).toBe(70_001);
    journal.close();
  });
  it("grows while the run goes on", async () => {
    let entries = CHUNK - 1;
    const journal = new Journal(source(() => entries, []));
    journal.start();
    await idle();
    entries = CHUNK + 3;
    journal.retry();
    await idle();
    expect(journal.last).toBe(CHUNK + 2);
    expect(journal.at(CHUNK + 2)?.context).toEqual({ input: null, state: { n: CHUNK + 2 }, output: null });
    journal.close();
  });
});

const PANEL: GraphView = {
  nodes: [["a", 0, 0], ["b", 0, 100], ["c", 120, 100], ["d", 0, 200]].map(([id, x, y]) => ({ id: String(id), kind: "pass", detail: "", initial: id === "a", x: Number(x), y: Number(y), w: 90, h: 33 })),
  edges: [["a", "b"], ["a", "c"], ["b", "d"]].map(([from, to], id) => ({ id, from: from ?? "", to: to ?? "", labels: [], fans_out: id === 0, joins: false, points: [[45, 33], [45, 100]] })),
  width: 210, height: 233,
};

describe("the graph", () => {
  const scene = sceneOf(PANEL);
  it("is walked along its edges", () => {
    expect([neighbour(scene, "a", "ArrowDown"), neighbour(scene, "d", "ArrowUp"), neighbour(scene, "b", "ArrowRight"), neighbour(scene, "d", "ArrowDown"), neighbour(scene, "d", "Enter")]).toEqual(["b", "b", "c", null, null]);
  });
  it("says counts in words", () => {
    expect([countsText({ ...NONE, active: 2, done: 1000 }), countsText()]).toEqual(["2 active · 1,000 done", "idle"]);
  });
  it("has one strip for a node that fanned out often", () => {
    const group = (id: number): Group => ({ id, name: "g", node: "a", total: 3, arrived: 0, live: 3, lost: 0, needed: null });
    expect(stripsOf(scene, [group(1), group(2)]).map((strip) => [strip.node, strip.group.id, strip.others])).toEqual([["b", 2, 1]]);
  });
  it("of several slots in one cell the worst is shown", () => {
    expect(binned([["done", 0, 5_000], ["failed", 5_000, 1], ["done", 5_001, 4_999]], 10_000, 4)).toEqual(["done", "done", "failed", "done"]);
    expect(binned([["idle", 0, 1], ["active", 1, 2]], 3, 3)).toEqual(["idle", "active", "active"]);
    expect([nextFailure([["done", 0, 2], ["failed", 2, 3]], 2, 1), nextFailure([["failed", 2, 3]], 2, -1), nextFailure([["failed", 2, 3]], 9, -1)]).toEqual([3, null, 4]);
  });
  it("what is under a point stays there when zoomed, and the picture is not lost", () => {
    const camera = zoomed({ x: 10, y: 20, scale: 1 }, 2, { x: 100, y: 100 }, 0.1);
    expect((100 - camera.x) / camera.scale).toBe(90);
    expect(held({ x: 9_999, y: -9_999, scale: 1 }, { width: 100, height: 100 }, { width: 500, height: 500 })).toEqual({ x: 440, y: -40, scale: 1 });
    const near = { x: 0, y: 0, scale: 1 };
    expect(showing(near, { x: 100, y: 100, w: 10, h: 10 }, { width: 500, height: 500 }, 0.5)).toBe(near);
  });
});

it("explanations say what the command line says", () => {
  const seen: Considered = { transition: 0, to: "x", priority: 1, condition: null, verdict: "missing", values: { "state.a": 1 }, missing: "state.b", iterations: null, max_iterations: null, problem: null };
  expect(verdict(seen)).toBe("false, no value at state.b (state.a = 1)");
  expect(verdict({ ...seen, verdict: "loop_limit_reached", iterations: 3, max_iterations: 3 })).toBe("at its limit, taken 3 of 3 times");
  expect([tokens([3]), tokens([5, 1, 2, 3, 9])]).toEqual(["token 3", "tokens 1 to 3, 5, 9"]);
  const routing = (token: number): Routing => ({ token, node: "n", entry: 0, at: "", after: "success", alike: 0, considered: [seen], created: [], parked_at: null, ends: null });
  expect(alike(Array.from({ length: 2_000 }, (_, token) => routing(token)), routingKey).length).toBe(1);
});

it("rows are placed by fraction where a browser cannot scroll as far", () => {
  const rows = 2_000_000;
  for (const row of [0, 1_234_567, rows - 20]) expect(Math.round(rowAt(placeOf(row, rows, 28, 560), rows, 28, 560))).toBe(row);
  expect(placeOf(10, 100, 28, 560)).toBe(280);
});

it("a timeline folds what is dense, and time in which nothing happened", () => {
  const at = (seconds: number): string => new Date(seconds * 1000).toISOString();
  const token = (id: number, node: string, from: number, to: number): Token => ({ id, node, status: "completed", created_at: at(from), since: at(to), ended_at: at(to) }) as Token;
  const many = Array.from({ length: 40 }, (_, id) => token(id, "many", 0, 1));
  const rows = rowsOf([...many, token(99, "one", 7_200, 7_201)], new Set());
  expect(rows.map((row) => [row.node, row.token?.id ?? null])).toEqual([["many", null], ["one", 99]]);
  expect(rowsOf(many, new Set(["many"])).length).toBe(41);
  const axis = axisOf(rows, 0, 7_201_000, null);
  expect(axis.map((piece) => piece.folded)).toEqual([false, true, false]);
  expect(placeOfTime(axis, 7_201_000)).toBeCloseTo(1);
  expect(timeAt(axis, placeOfTime(axis, 500))).toBeCloseTo(500);
});
