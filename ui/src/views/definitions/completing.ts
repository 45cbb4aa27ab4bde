/** What the editor offers: keys of definitions, names of nodes, variables of expressions. */
import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";

const KEYS = [
  "workflows", "flows", "agents", "personas", "tools", "tasks", "actions", "triggers", "model_profiles", "project", "settings",
  "initial_node", "nodes", "transitions", "input_schema", "state_schema", "output_schema", "limits", "timeout_ms",
  "action", "agent", "end", "fan_in", "fan_out", "gate", "input_mapping", "output_mapping", "on_failure", "task", "wait", "workflow", "kind", "implementation",
  "from", "to", "condition", "priority", "foreach", "collection", "item_var", "sibling_group", "synchronization", "strategy", "merge", "source", "target", "max_iterations",
  "title", "schema", "assignees", "approvals", "on_timeout", "steps", "ref", "retry", "seconds", "type", "properties", "required", "items", "description",
  "cron", "time_zone", "missed", "path", "secret", "start", "name", "instructions", "model_profile", "needs_approval", "once",
];
const VARIABLES = ["input.", "state.", "output.", "result.", "result.error", "_branch.output", "event.", "size(", "has("];

/** A source of completions that knows the nodes there are now. */
export function completions(nodes: () => readonly string[]): (context: CompletionContext) => CompletionResult | null {
  return (context) => {
    const word = context.matchBefore(/[\w.]+/);
    if (word === null || (word.from === word.to && !context.explicit)) return null;
    const line = context.state.doc.lineAt(context.pos);
    const before = line.text.slice(0, word.from - line.from);
    const asValue = /:\s*["']?[^:]*$/.test(before) && !/[{,]\s*$/.test(before);
    const named: Completion[] = nodes().map((label) => ({ label, type: "variable", detail: "node" }));
    const variables: Completion[] = VARIABLES.map((label) => ({ label, type: "constant", detail: "expression" }));
    const keys: Completion[] = KEYS.map((label) => ({ label, type: "property", apply: `${label}: ` }));
    return { from: word.from, options: asValue ? [...named, ...variables] : [...keys, ...named], validFor: /^[\w.]*$/ };
  };
}
