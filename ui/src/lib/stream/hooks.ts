import { useEffect, useRef, useState } from "react";

import { openStream } from "./browser.ts";
import type { Listener, StreamOptions, StreamState } from "./stream.ts";

/** Follow one stream for as long as the component is there: a run's, with `{ run }`, or a conversation's. */
export function useStream(options: StreamOptions | null, listener: Listener): StreamState {
  const [state, setState] = useState<StreamState>({ kind: "connecting" });
  const latest = useRef(listener);
  useEffect(() => {
    latest.current = listener;
  });
  const key = options === null ? null : JSON.stringify(options);
  useEffect(() => {
    if (key === null) return;
    const stream = openStream(JSON.parse(key) as StreamOptions, {
      events: (events) => latest.current.events?.(events),
      deltas: (deltas) => latest.current.deltas?.(deltas),
      gap: () => latest.current.gap?.(),
      state: (next) => {
        setState(next);
        latest.current.state?.(next);
      },
    });
    return () => stream.close();
  }, [key]);
  return state;
}
