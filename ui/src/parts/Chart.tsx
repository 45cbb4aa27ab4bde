import { Suspense, lazy, type ReactNode } from "react";

import type { ChartProps } from "./chart/Plot.tsx";

const Plot = lazy(() => import("./chart/Plot.tsx"));

/** A chart (uPlot), loaded when it is first shown. It keeps its height meanwhile, so that nothing jumps. */
export function Chart(props: ChartProps): ReactNode {
  return (
    <figure aria-label={props.label} className="chart" style={{ height: props.height }}>
      <Suspense fallback={null}><Plot {...props} /></Suspense>
    </figure>
  );
}
