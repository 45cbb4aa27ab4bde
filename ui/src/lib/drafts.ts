/** Drafts: what was typed and not sent yet outlives a reload, for a week. */
import { useCallback, useEffect, useRef, useState } from "react";

import { keep, kept } from "./storage.ts";

const WEEK = 7 * 24 * 3600 * 1000;
const PAUSE = 300;

interface Draft {
  at: number;
  value: unknown;
}

/** The draft of this name, or undefined. */
export function draftOf(name: string, now = Date.now()): unknown {
  const text = kept(`draft:${name}`);
  if (text === null) return undefined;
  try {
    const draft = JSON.parse(text) as Draft;
    return now - draft.at < WEEK ? draft.value : undefined;
  } catch {
    return undefined;
  }
}

/** State that is kept as a draft while it differs from the beginning: `const [value, set, forget] = useDraft(name, "")`. */
export function useDraft<T>(name: string, initial: T): [value: T, set: (value: T) => void, forget: () => void] {
  const [state, setState] = useState<{ name: string; value: T }>(() => ({ name, value: (draftOf(name) as T | undefined) ?? initial }));
  const pending = useRef<{ timer: ReturnType<typeof setTimeout>; write: () => void } | null>(null);
  // another name is another draft: what is shown changes with it, in the same rendering
  const value = state.name === name ? state.value : ((draftOf(name) as T | undefined) ?? initial);
  const set = useCallback(
    (next: T) => {
      setState({ name, value: next });
      if (pending.current !== null) clearTimeout(pending.current.timer);
      const write = (): void => {
        pending.current = null;
        keep(`draft:${name}`, JSON.stringify({ at: Date.now(), value: next } satisfies Draft));
      };
      pending.current = { timer: setTimeout(write, PAUSE), write };
    },
    [name],
  );
  const forget = useCallback(() => {
    if (pending.current !== null) clearTimeout(pending.current.timer);
    pending.current = null;
    keep(`draft:${name}`, null);
    setState({ name, value: initial });
    // eslint-disable-next-line react-hooks/exhaustive-deps -- a new empty object is no new beginning
  }, [name]);
  useEffect(() => {
    // whoever leaves or reloads within the pause keeps what was typed
    const flush = (): void => {
      if (pending.current === null) return;
      clearTimeout(pending.current.timer);
      pending.current.write();
    };
    window.addEventListener("pagehide", flush);
    return () => {
      window.removeEventListener("pagehide", flush);
      flush();
    };
  }, [name]);
  return [value, set, forget];
}
