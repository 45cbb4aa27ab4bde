import { expect, it } from "vitest";

import type { Run } from "../../lib/api/queries.ts";
import { barsOf } from "./Activity.tsx";
import { kindsOf } from "./failures.ts";
import { completions, filterOf } from "./filter.ts";
import { settle } from "./list.ts";

const run = (run_id: string): Run => ({ run_id }) as Run;

it("new rows wait, and older ones join at the end", () => {
  const rows = ["n2", "a", "n1", "b", "old"].map(run);
  const { shown, fresh } = settle(rows, new Set(["a", "b", "gone"]));
  expect(shown.map((row) => row.run_id)).toEqual(["a", "b", "old"]);
  expect(fresh).toBe(2);
  expect(settle(rows, new Set()).fresh).toBe(0);
});

it("the address names the filter", () => {
  const now = Date.parse("2026-03-12T08:00:30Z");
  expect(filterOf(new URLSearchParams("q=+a+&status=failed,nonsense,waiting&workflow=w&time=1h"), now)).toEqual({
    q: "a", status: "waiting,failed", workflow: "w", since: "2026-03-12T07:00:00.000Z",
  });
  expect(filterOf(new URLSearchParams(""), now)).toEqual({});
});

it("the last word is completed", () => {
  expect(completions("x sta", [])).toEqual(["x status:", "x state."]);
  expect(completions("status:f", [])).toEqual(["status:failed"]);
  expect(completions("workflow:p", ["panel", "other"])).toEqual(["workflow:panel"]);
  expect(completions("status:failed ", [])).toEqual([]);
});

it("runs are counted in bars by time and status", () => {
  const at = (second: number, status: "failed" | "completed"): Pick<Run, "submitted_at" | "status"> => ({ submitted_at: new Date(second * 1000).toISOString(), status });
  const bars = barsOf([at(100, "failed"), at(101, "completed"), at(159, "completed"), at(159, "completed")], 60);
  expect(bars.times).toHaveLength(12);
  expect(bars.times[0]).toBe(100);
  expect(bars.byStatus.get("completed")?.[0]).toBe(1);
  expect(bars.byStatus.get("completed")?.[11]).toBe(2);
  expect(bars.byStatus.get("failed")?.reduce((a, b) => a + b)).toBe(1);
});

it("failures are one if only their numbers differ", () => {
  const failed = (run_id: string, type: string, node: string | null, message: string) => ({ run_id, error: { type, node, message } });
  const kinds = kindsOf([
    failed("a", "timeout", "pay", "no answer of bank-7 in 300 ms"), failed("b", "declined", "pay", "the card was declined"),
    { run_id: "c", error: null }, failed("d", "timeout", "pay", "no answer of bank-12 in 5 ms"), failed("e", "timeout", "ship", "no answer of bank-7 in 300 ms"),
  ]);
  expect(kinds.map(({ type, node, runs }) => [type, node, runs])).toEqual([["timeout", "pay", ["a", "d"]], ["declined", "pay", ["b"]], ["timeout", "ship", ["e"]]]);
});
