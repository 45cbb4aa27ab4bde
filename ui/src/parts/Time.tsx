import type { ReactNode } from "react";

import { clock, duration, exact, relative, useNow } from "../lib/time.ts";

/** A moment as a time of day; in full when pointed at. */
export function Clock({ at }: { readonly at: string }): ReactNode {
  const now = useNow();
  return <time dateTime={at} title={`${exact(at)}, ${relative(at, now)}`} className="numbers">{clock(at, now)}</time>;
}

/** A moment by its distance: `2 h ago`. */
export function Ago({ at }: { readonly at: string }): ReactNode {
  const now = useNow();
  return <time dateTime={at} title={exact(at)} className="numbers">{relative(at, now)}</time>;
}

/** How long something took, or takes so far. */
export function Lasted({ from, to }: { readonly from: string; readonly to: string | null }): ReactNode {
  const now = useNow();
  const end = to === null ? now : new Date(to).getTime();
  return <span className="numbers">{duration(end - new Date(from).getTime())}</span>;
}
