/** Rows of one height, of which only those in view are in the document. Beyond what a browser can scroll, rows are placed by fraction. */
import { useCallback, useEffect, useRef, useState, type RefObject } from "react";

const TALLEST = 15_000_000; // pixels: browsers end somewhere behind
const OVERSCAN = 6;

export interface Virtual {
  readonly box: RefObject<HTMLDivElement | null>;
  readonly first: number;
  readonly last: number;
  /** Where the first row in the document is, and how tall all are. */
  readonly offset: number;
  readonly height: number;
  readonly atEnd: boolean;
  readonly scrollTo: (row: number, block?: "start" | "center" | "end") => void;
  readonly scrollTop: number;
  readonly viewHeight: number;
}

/** The first row in view, as a fraction, at a place of the scroll bar. */
export function rowAt(scrollTop: number, rows: number, rowHeight: number, viewHeight: number): number {
  const whole = rows * rowHeight;
  if (whole <= TALLEST) return scrollTop / rowHeight;
  return (scrollTop / Math.max(1, TALLEST - viewHeight)) * Math.max(0, rows - viewHeight / rowHeight);
}

/** The place of the scroll bar that shows a row first. */
export function placeOf(row: number, rows: number, rowHeight: number, viewHeight: number): number {
  const whole = rows * rowHeight;
  if (whole <= TALLEST) return row * rowHeight;
  return (row / Math.max(1, rows - viewHeight / rowHeight)) * Math.max(1, TALLEST - viewHeight);
}

export function useVirtual(rows: number, rowHeight: number): Virtual {
  const box = useRef<HTMLDivElement>(null);
  const [state, setState] = useState({ top: 0, view: 600 });
  useEffect(() => {
    const place = box.current;
    if (place === null) return;
    let frame = 0;
    const look = (): void => {
      frame = 0;
      setState((before) => (before.top === place.scrollTop && before.view === place.clientHeight ? before : { top: place.scrollTop, view: place.clientHeight }));
    };
    const soon = (): void => { frame = frame === 0 ? requestAnimationFrame(look) : frame; };
    place.addEventListener("scroll", soon, { passive: true });
    const watcher = new ResizeObserver(soon);
    watcher.observe(place);
    look();
    return () => {
      cancelAnimationFrame(frame);
      place.removeEventListener("scroll", soon);
      watcher.disconnect();
    };
  }, []);
  const height = Math.min(rows * rowHeight, TALLEST);
  const top = Math.min(state.top, Math.max(0, height - state.view));
  const at = rowAt(top, rows, rowHeight, state.view);
  const first = Math.max(0, Math.floor(at) - OVERSCAN);
  const last = Math.min(rows, Math.ceil(at + state.view / rowHeight) + OVERSCAN);
  const scrollTo = useCallback(
    (row: number, block: "start" | "center" | "end" = "start") => {
      const place = box.current;
      if (place === null) return;
      const seen = place.clientHeight / rowHeight;
      const wanted = block === "start" ? row : block === "center" ? row - seen / 2 + 0.5 : row - seen + 1;
      place.scrollTop = placeOf(Math.max(0, wanted), rows, rowHeight, place.clientHeight);
    },
    [rows, rowHeight],
  );
  return { box, first, last, offset: top - (at - first) * rowHeight, height, atEnd: top >= height - state.view - 2, scrollTo, scrollTop: top, viewHeight: state.view };
}
