/** Failures that are one and the same: by type, node and message without its numbers. */
import type { Run } from "../../lib/api/queries.ts";

export interface Failure {
  readonly key: string;
  readonly type: string;
  readonly node: string | null;
  /** The message of the newest. */
  readonly message: string;
  readonly runs: readonly string[];
}

/** A message without what differs from one run to the next: numbers, and ids that have digits in them. */
export function withoutNumbers(message: string): string {
  return message.replaceAll(/\b[\w-]*\d[\w-]*\b/g, "#");
}

/** The kinds of failure, the most frequent first. */
export function kindsOf(runs: readonly Pick<Run, "run_id" | "error">[]): Failure[] {
  const failed = runs.flatMap((run) => (run.error === null ? [] : [{ run: run.run_id, error: run.error }]));
  const groups = Map.groupBy(failed, ({ error }) => JSON.stringify([error.type, error.node, withoutNumbers(error.message)]));
  return [...groups]
    .flatMap(([key, [first, ...rest]]): Failure[] => (first === undefined ? [] : [{ key, ...first.error, runs: [first, ...rest].map((each) => each.run) }]))
    .sort((a, b) => b.runs.length - a.runs.length);
}
