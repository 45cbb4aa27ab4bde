import { expect, it } from "vitest";

import { between, readMetrics } from "./measured.ts";
import { readyWords } from "./ready.ts";

it("two readings give a speed", () => {
  const text = (commits: number, seconds: number): string => `# HELP x\njeton_commit_seconds_count ${String(commits)}.0\njeton_commit_seconds_sum ${String(seconds)}\njeton_runs{status="x"} 4\njeton_commit_entries_sum ${String(commits * 2)}\njeton_inbox_messages 3.0\n`;
  const found = between({ at: 0, values: readMetrics(text(10, 1)) }, { at: 5_000, values: readMetrics(text(30, 1.1)) });
  expect([found.entriesPerSecond, found.commitsPerSecond, found.inbox]).toEqual([8, 4, 3]);
  expect(found.commitMs).toBeCloseTo(5);
});

it("readiness is told in words, also for a code that is not known", () => {
  expect(readyWords(true, null).ok).toBe(true);
  expect(readyWords(false, "draining").words).toContain("shutting down");
  expect(readyWords(false, "odd").words).toContain("odd");
});
