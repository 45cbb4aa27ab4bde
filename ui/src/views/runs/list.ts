/** The rows of the view: what was read, without what came since. New rows wait until they are asked for. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";

import { queries, type Run, type RunFilter } from "../../lib/api/queries.ts";

/** Rows to show and how many wait: rows that are not known and stand before a known one are new. */
export function settle(rows: readonly Run[], known: ReadonlySet<string>): { shown: Run[]; fresh: number } {
  const lastKnown = rows.findLastIndex((row) => known.has(row.run_id));
  const shown = rows.filter((row, index) => index > lastKnown || known.has(row.run_id));
  return { shown, fresh: rows.length - shown.length };
}

export interface RunRows {
  readonly rows: readonly Run[];
  /** How many new rows wait behind `3 new`. */
  readonly fresh: number;
  readonly showFresh: () => void;
  /** Show this run as soon as it is read: it was started here. */
  readonly admit: (run: string) => void;
  readonly readMore: () => void;
  readonly query: ReturnType<typeof useRuns>;
}

function useRuns(filter: RunFilter) {
  return useInfiniteQuery({ ...queries.runs(filter), placeholderData: (before) => before });
}

/** The runs that a filter finds, live, with rows that do not jump. */
export function useRunRows(filter: RunFilter): RunRows {
  const query = useRuns(filter);
  const name = JSON.stringify(filter);
  const [known, setKnown] = useState<{ name: string; ids: ReadonlySet<string> }>({ name: "", ids: new Set() });
  const { data, isPlaceholderData, fetchNextPage, hasNextPage, isFetching } = query;
  const rows = useMemo(() => {
    const seen = new Set<string>();
    // a run may move from one page to the next while they are read
    return (data?.pages ?? []).flatMap((page) => page.runs).filter((run) => !seen.has(run.run_id) && seen.add(run.run_id));
  }, [data]);
  const settled = useMemo(() => {
    const accepted = known.name === name ? known.ids : new Set<string>();
    return settle(rows, accepted);
  }, [rows, known, name]);
  if (!isPlaceholderData && data !== undefined) {
    const missing = known.name !== name || settled.shown.some((row) => !known.ids.has(row.run_id));
    if (missing) setKnown({ name, ids: new Set([...(known.name === name ? known.ids : []), ...settled.shown.map((row) => row.run_id)]) });
  }
  const showFresh = useCallback(() => setKnown({ name, ids: new Set(rows.map((row) => row.run_id)) }), [name, rows]);
  const admit = useCallback((run: string) => setKnown((now) => ({ ...now, ids: new Set([...now.ids, run]) })), []);
  const readMore = useCallback(() => {
    if (hasNextPage && !isFetching) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage]);
  return { rows: settled.shown, fresh: settled.fresh, showFresh, admit, readMore, query };
}
