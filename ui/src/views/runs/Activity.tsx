import { useMemo, type ReactNode } from "react";

import type { Run } from "../../lib/api/queries.ts";
import { RUN_STATUSES, lookOf } from "../../lib/statuses.ts";
import { Chart } from "../../parts/Chart.tsx";

const BARS = 60;
const FEWEST = 2; // runs; fewer have no shape
const STEPS = [1, 5, 15, 60, 300, 900, 3_600, 10_800, 43_200, 86_400, 604_800]; // seconds that a bar may stand for

export interface Bars {
  readonly times: number[];
  readonly byStatus: Map<string, number[]>;
}

/** Runs by when they were submitted and by status, in at most so many bars. */
export function barsOf(runs: readonly Pick<Run, "submitted_at" | "status">[], most: number): Bars {
  const at = runs.map((run) => new Date(run.submitted_at).getTime() / 1000);
  const first = Math.min(...at);
  const last = Math.max(...at);
  const step = STEPS.find((each) => (last - first) / each < most - 1) ?? Math.ceil((last - first) / most);
  const begin = Math.floor(first / step) * step;
  const size = Math.floor((last - begin) / step) + 1;
  const times = Array.from({ length: size }, (_, index) => begin + index * step);
  const byStatus = new Map<string, number[]>();
  runs.forEach((run, index) => {
    const bars = byStatus.get(run.status) ?? new Array<number>(size).fill(0);
    byStatus.set(run.status, bars);
    const bar = Math.floor(((at[index] ?? begin) - begin) / step);
    bars[bar] = (bars[bar] ?? 0) + 1;
  });
  return { times, byStatus };
}

interface Props {
  readonly runs: readonly Run[];
  /** A time that was chosen by dragging. */
  readonly onRange: (since: string, until: string) => void;
}

/** When the listed runs were submitted: bars by status; dragging chooses a time. */
export function Activity({ runs, onRange }: Props): ReactNode {
  const { times, series } = useMemo(() => {
    if (runs.length < FEWEST) return { times: [], series: [] };
    const bars = barsOf(runs, BARS);
    const shown = RUN_STATUSES.filter((status) => bars.byStatus.has(status));
    return { times: bars.times, series: shown.map((status) => ({ label: status, colour: lookOf(status), values: bars.byStatus.get(status) ?? [] })) };
  }, [runs]);
  if (times.length < FEWEST) return null;
  const choose = (from: number, to: number): void => onRange(new Date(from * 1000).toISOString(), new Date(to * 1000).toISOString());
  return <div className="activity"><Chart label="Runs by the time they were submitted" height={72} times={times} series={series} kind="bars" spare onRange={choose} /></div>;
}
