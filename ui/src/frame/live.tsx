/** The store's stream: one for the page. What it tells of makes queries read again; views listen for more. */
import { useQueryClient, type QueryClient } from "@tanstack/react-query";
import { createContext, useContext, useEffect, useMemo, useRef, type ReactNode } from "react";

import { useStream } from "../lib/stream/hooks.ts";
import type { StreamEvent, StreamState } from "../lib/stream/stream.ts";

type Hear = (events: readonly StreamEvent[]) => void;
interface Live {
  readonly state: StreamState;
  readonly listen: (hear: Hear) => () => void;
}

const LiveContext = createContext<Live | null>(null);
const PAUSE = 500; // between two rounds of reading again

/** Which queries an event makes old, by the beginning of their keys. */
export function touched(event: StreamEvent): string[][] {
  if (event.type.startsWith("gate.")) return [["gates"]];
  if (event.type.startsWith("run.")) return [["runs"], ["store"], ["run", event.run_id]];
  return [];
}

/** Reads again what events made old, at most once in a while, however many events there were. */
class Refresher {
  #keys = new Map<string, string[]>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  constructor(readonly client: QueryClient) {}

  hear(events: readonly StreamEvent[]): void {
    for (const event of events) for (const key of touched(event)) this.#keys.set(key.join("\0"), key);
    if (this.#keys.size > 0) this.#timer ??= setTimeout(() => this.#refresh(), PAUSE);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #refresh(): void {
    this.#timer = undefined;
    const keys = [...this.#keys.values()];
    this.#keys = new Map();
    for (const queryKey of keys) void this.client.invalidateQueries({ queryKey });
  }
}

export function LiveProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const client = useQueryClient();
  const listeners = useRef(new Set<Hear>());
  const refresher = useMemo(() => new Refresher(client), [client]);
  useEffect(() => () => refresher.stop(), [refresher]);
  const everything = (): void => void client.invalidateQueries({ predicate: (query) => query.queryKey[0] !== "me" });
  const begun = useRef(false);
  const state = useStream(
    { after: "head" },
    {
      events: (events) => {
        refresher.hear(events);
        for (const hear of listeners.current) hear(events);
      },
      gap: everything,
      state: (next) => {
        if (next.kind === "away") void client.invalidateQueries({ queryKey: ["me"] }); // perhaps the key was revoked
        // what was read before the stream began may miss what happened between
        if (next.kind === "live" && !begun.current) {
          begun.current = true;
          everything();
        }
      },
    },
  );
  const live = useMemo<Live>(
    () => ({
      state,
      listen: (hear) => {
        listeners.current.add(hear);
        return () => listeners.current.delete(hear);
      },
    }),
    [state],
  );
  return <LiveContext value={live}>{children}</LiveContext>;
}

function useLive(): Live {
  const live = useContext(LiveContext);
  if (live === null) throw new Error("there is no stream here");
  return live;
}

/** Whether the page follows the store. */
export function useLiveState(): StreamState {
  return useLive().state;
}

/** Hear `run.*` and `gate.*` of all runs as they are committed. */
export function useStoreEvents(hear: Hear): void {
  const { listen } = useLive();
  const latest = useRef(hear);
  useEffect(() => {
    latest.current = hear;
  });
  useEffect(() => listen((events) => latest.current(events)), [listen]);
}
