/** A list of tabs that is wider than the screen shows the one that is selected. */
import { useEffect, useRef, type RefObject } from "react";

/** Scroll the selected tab into sight, sideways only. */
export function useSelectedInSight(selected: string): RefObject<HTMLDivElement | null> {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // the tabs are rendered after their list
    const frame = requestAnimationFrame(() => {
      const bar = list.current;
      const tab = bar?.querySelector<HTMLElement>(`[data-key="${CSS.escape(selected)}"]`);
      if (bar === null || tab === null || tab === undefined || bar.scrollWidth <= bar.clientWidth) return;
      bar.scrollLeft = tab.offsetLeft - (bar.clientWidth - tab.offsetWidth) / 2;
    });
    return () => cancelAnimationFrame(frame);
  }, [selected]);
  return list;
}
