/** How fast the store is, from two readings of `/metrics`. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { outOfReach, problemIn } from "../../lib/api/problem.ts";

export interface Reading {
  readonly at: number;
  readonly values: Readonly<Record<string, number>>;
}

export interface Measured {
  readonly entriesPerSecond: number;
  readonly commitsPerSecond: number;
  /** Mean time of a commit between the readings, or since the server began. Null: there was none. */
  readonly commitMs: number | null;
  readonly inbox: number;
  readonly tasks: number;
}

/** The numbers without labels in Prometheus’ text format. */
export function readMetrics(text: string): Record<string, number> {
  const found: Record<string, number> = {};
  for (const line of text.split("\n")) {
    const parts = /^([a-z_]+) (\S+)$/.exec(line);
    if (parts?.[1] !== undefined) found[parts[1]] = Number(parts[2]);
  }
  return found;
}

/** What happened between two readings. */
export function between(before: Reading, after: Reading): Measured {
  const seconds = Math.max(0.001, (after.at - before.at) / 1000);
  const grown = (name: string): number => Math.max(0, (after.values[name] ?? 0) - (before.values[name] ?? 0));
  const commits = grown("jeton_commit_seconds_count");
  const all = after.values["jeton_commit_seconds_count"] ?? 0;
  const mean = commits > 0 ? grown("jeton_commit_seconds_sum") / commits : all > 0 ? (after.values["jeton_commit_seconds_sum"] ?? 0) / all : null;
  return {
    entriesPerSecond: grown("jeton_commit_entries_sum") / seconds,
    commitsPerSecond: commits / seconds,
    commitMs: mean === null ? null : mean * 1000,
    inbox: after.values["jeton_inbox_messages"] ?? 0,
    tasks: after.values["jeton_tasks_in_flight"] ?? 0,
  };
}

async function ask(signal: AbortSignal): Promise<Reading> {
  let answer: Response;
  try {
    answer = await fetch("/metrics", { signal, cache: "no-store", credentials: "same-origin" });
  } catch (error) {
    if (signal.aborted) throw error;
    throw outOfReach();
  }
  if (!answer.ok) throw await problemIn(answer);
  return { at: Date.now(), values: readMetrics(await answer.text()) };
}

/** The speed over the last interval; null until there were two readings. */
export function useMeasured(every: number): Measured | null {
  const { data } = useQuery({ queryKey: ["metrics"], queryFn: ({ signal }) => ask(signal), refetchInterval: every, staleTime: 0, gcTime: 0 });
  const [pair, setPair] = useState<{ before: Reading | null; after: Reading | null }>({ before: null, after: null });
  if (data !== undefined && data.at !== pair.after?.at) setPair({ before: pair.after, after: data });
  return pair.before === null || pair.after === null ? null : between(pair.before, pair.after);
}
