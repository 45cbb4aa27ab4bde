import { expect, it } from "vitest";

import type { Gate } from "../../lib/api/queries.ts";
import { inOrder, isMine, matches, toolOf } from "./order.ts";
import { placesIn } from "./refusal.ts";

const gate = (id: string, more: Partial<Gate> = {}): Gate => ({
  id, run_id: "run", node: "ask", path: "root", title: "Ship it?", schema: null, assignees: [], approvals: 1, answers: 0, since: "2026-03-12T08:00:00Z", due: null, ...more,
}) as Gate;

it("a refusal is shown at the fields that it names", () => {
  const told = `answer: "ok" is a required property; answer.lines[0].sku: 3 is not of type "string"`;
  expect(placesIn({ problem: told, problems: [] })).toEqual([
    { path: "$.ok", problem: "is needed" }, { path: "$.lines[0].sku", problem: `3 is not of type "string"` },
  ]);
  expect(placesIn({ problem: "'eve' is not asked here: ada", problems: [] })).toEqual([]);
});

it("what is overdue comes first, then what is oldest", () => {
  const now = Date.parse("2026-03-12T09:00:00Z");
  const late = gate("late", { since: "2026-03-12T08:30:00Z", due: "2026-03-12T08:45:00Z" });
  const young = gate("young", { since: "2026-03-12T08:50:00Z", due: "2026-03-12T10:00:00Z" });
  expect(inOrder([young, gate("old"), late], now).map((each) => each.id)).toEqual(["late", "old", "young"]);
});

it("mine is what everybody may answer, and what I am asked", () => {
  expect([isMine(gate("a"), "ann"), isMine(gate("a", { assignees: ["ann"] }), "ann"), isMine(gate("a", { assignees: ["ben"] }), "ann")]).toEqual([true, true, false]);
});

it("a search looks at the title, the node, the run and who is asked", () => {
  const one = gate("a", { assignees: ["ann"] });
  expect(["ship", "ASK ann", "run", "nowhere"].map((words) => matches(one, words))).toEqual([true, true, true, false]);
});

it("the approval of a tool has its name", () => {
  expect([toolOf(gate("a", { node: "tool:refund" })), toolOf(gate("a"))]).toEqual(["refund", null]);
});
