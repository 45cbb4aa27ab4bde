import { useEffect, useRef, type ReactNode } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

import { colour, useColourVersion } from "../../lib/theme.ts";
import { hours } from "../../lib/time.ts";

export interface ChartSeries {
  readonly label: string;
  /** A colour of styles/tokens.css: `running`, `accent-ink`. */
  readonly colour: string;
  readonly values: readonly (number | null)[];
}

export interface ChartProps {
  readonly label: string;
  readonly height: number;
  /** Seconds since 1970, rising. */
  readonly times: readonly number[];
  readonly series: readonly ChartSeries[];
  readonly kind?: "bars" | "lines";
  /** A range that was chosen by dragging, in seconds. */
  readonly onRange?: (from: number, to: number) => void;
  /** No axes: the shape alone. */
  readonly spare?: boolean;
}

const STEPS = [1, 5, 15, 30, 60, 300, 900, 1_800, 3_600, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800, 2_592_000];

/** A time on the axis, as fine as its steps: `08:03:15`, `08:03`, `12 Mar`. */
export function timeOf(at: number, step: number): string {
  const time = new Date(at * 1000);
  if (step < 86_400) return hours(time, step < 60);
  return time.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
}

/** Values of each series on top of those before it, the last first, so that the lower ones are drawn over the higher. */
export function stacked(series: readonly ChartSeries[]): number[][] {
  const sums: number[][] = [];
  for (const each of series) {
    const below = sums.at(-1);
    sums.push(each.values.map((value, index) => (value ?? 0) + (below?.[index] ?? 0)));
  }
  return sums.reverse();
}

export default function Plot({ height, times, series, kind = "lines", onRange, spare = false }: ChartProps): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const version = useColourVersion();
  const chosen = useRef(onRange);
  useEffect(() => {
    chosen.current = onRange;
  });
  useEffect(() => {
    const box = place.current;
    if (box === null) return;
    const bars = kind === "bars";
    const ordered = bars ? series.toReversed() : series;
    const data = [times, ...(bars ? stacked(series) : series.map((each) => each.values))] as uPlot.AlignedData;
    const axis: uPlot.Axis = {
      stroke: colour("ink-3"), grid: { stroke: colour("line"), width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif", size: 28,
    };
    const timeAxis: uPlot.Axis = {
      ...axis, grid: { show: false }, space: 72, incrs: STEPS,
      values: (_, splits, __, ___, step) => splits.map((at) => timeOf(at, step)),
    };
    const half = bars && times.length > 1 ? ((times[1] ?? 0) - (times[0] ?? 0)) / 2 : 0;
    const paths = bars ? uPlot.paths.bars?.({ size: [0.8, 28], radius: 0.15 }) : undefined;
    const plot = new uPlot(
      {
        width: Math.max(50, box.clientWidth), height, legend: { show: false },
        cursor: { drag: { x: onRange !== undefined, y: false, setScale: false }, points: { show: false } },
        padding: spare ? [2, 0, 0, 0] : [6, 4, 0, 0],
        scales: { x: { time: true, range: (_, min, max) => [min - half, max + half] }, y: { range: (_, __, max) => [0, Math.max(1, max * 1.1)] } },
        axes: spare ? [{ ...timeAxis, size: 20 }, { show: false }] : [timeAxis, { ...axis, size: 40 }],
        series: [{}, ...ordered.map((each): uPlot.Series => ({
          label: each.label, stroke: colour(each.colour), width: bars ? 0 : 1.5, points: { show: false },
          ...(bars ? { fill: colour(each.colour) } : {}), ...(paths === undefined ? {} : { paths }),
        }))],
        hooks: {
          setSelect: [(self) => {
            if (self.select.width < 4) return;
            const from = self.posToVal(self.select.left, "x");
            const to = self.posToVal(self.select.left + self.select.width, "x");
            self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            chosen.current?.(from, to);
          }],
        },
      },
      data,
      box,
    );
    const watcher = new ResizeObserver(() => {
      if (box.clientWidth > 0) plot.setSize({ width: box.clientWidth, height });
    });
    watcher.observe(box);
    return () => {
      watcher.disconnect();
      plot.destroy();
    };
  }, [height, times, series, kind, spare, version, onRange === undefined]); // eslint-disable-line react-hooks/exhaustive-deps -- the handler is read when it is called
  return <div ref={place} />;
}
