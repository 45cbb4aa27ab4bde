/** Open gates: which come first, which are mine, which match. */
import type { Gate } from "../../lib/api/queries.ts";

export function isOverdue(gate: Gate, now: number): boolean {
  return gate.due !== null && new Date(gate.due).getTime() < now;
}

/** What is overdue first, then what has waited longest. */
export function inOrder(gates: readonly Gate[], now: number): Gate[] {
  return gates.toSorted((a, b) => Number(isOverdue(b, now)) - Number(isOverdue(a, now)) || a.since.localeCompare(b.since));
}

/** Whether somebody is asked: by name, or because anybody is. */
export function isMine(gate: Gate, person: string): boolean {
  return gate.assignees.length === 0 || gate.assignees.includes(person);
}

/** Whether a gate has all the words of a search. */
export function matches(gate: Gate, search: string): boolean {
  const text = [gate.title, gate.node, gate.run_id, ...gate.assignees].join(" ").toLowerCase();
  return search.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

/** The tool whose call waits for approval at this gate; null: it is no such gate. */
export function toolOf(gate: Pick<Gate, "node">): string | null {
  return gate.node.startsWith("tool:") ? gate.node.slice("tool:".length) : null;
}
