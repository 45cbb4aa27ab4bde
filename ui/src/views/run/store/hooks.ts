/** The run that a view shows, and where in its journal. */
import { useQueryClient, type Query } from "@tanstack/react-query";
import { createContext, useCallback, useContext, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";

import { api } from "../../../lib/api/client.ts";
import type { RunRecord } from "../../../lib/api/queries.ts";
import { partsOf, useParameters } from "../../../lib/location.ts";
import { ENDED } from "../../../lib/statuses.ts";
import { useStream } from "../../../lib/stream/hooks.ts";
import { Journal, type Source } from "./journal.ts";

function sourceOf(run: string): Source {
  const path = { run };
  return {
    graph: (at, signal) => api.get("/v1/runs/{run}/graph", { path, query: at === null ? {} : { at }, signal }),
    context: (at, signal) => api.get("/v1/runs/{run}/context", { path, query: { at }, signal }),
    deltas: async (from, to, signal) => (await api.get("/v1/runs/{run}/deltas", { path, query: { from, to }, signal })).deltas,
    entries: async (after, limit, signal) => (await api.get("/v1/runs/{run}/entries", { path, query: { after, limit }, signal })).entries,
  };
}

const PAUSE = 700; // between two rounds of reading again
const HEAVY: ReadonlySet<string> = new Set(["explain", "tokens"]);
const MANY_TOKENS = 3_000;
const HEAVY_PAUSE = 10_000;

/** The journal of a run, followed for as long as the run goes on. */
export function useJournal(record: RunRecord): Journal {
  const run = record.run_id;
  const client = useQueryClient();
  const [held, setHeld] = useState<{ run: string; journal: Journal } | null>(null);
  const journal = useMemo(() => (held?.run === run ? held.journal : new Journal(sourceOf(run))), [held, run]);
  useEffect(() => {
    // an effect may run twice: a journal that was closed is made anew
    const fresh = new Journal(sourceOf(run));
    setHeld({ run, journal: fresh });
    fresh.start();
    return () => fresh.close();
  }, [run]);
  const latest = useRef(journal);
  useEffect(() => {
    latest.current = journal;
  });
  const stale = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const readAgain = (): void => {
    stale.current = undefined;
    // what takes long to read is not begun anew before it has come
    if (client.isFetching({ queryKey: ["run", run] }) > 0) stale.current = setTimeout(readAgain, PAUSE);
    else void client.invalidateQueries({ queryKey: ["run", run], predicate: (query) => !rests(query) });
  };
  /** What is a lot of work for the server is read again less often. */
  const rests = (query: Query): boolean => {
    if (!HEAVY.has(String(query.queryKey[2])) || latest.current.tokens <= MANY_TOKENS) return false;
    const left = query.state.dataUpdatedAt + HEAVY_PAUSE - Date.now();
    if (left > 0) stale.current ??= setTimeout(readAgain, left);
    return left > 0;
  };
  const changed = (): void => {
    latest.current.touch();
    stale.current ??= setTimeout(readAgain, PAUSE);
  };
  useEffect(() => () => clearTimeout(stale.current), []);
  const over = ENDED.has(record.status);
  useEffect(() => {
    if (over) latest.current.touch(); // the last entries may have come after the last look
  }, [over]);
  useStream(over ? null : { run, after: "head" }, {
    events: changed,
    gap: changed,
    state: (next) => {
      if (next.kind === "live" || next.kind === "ended") changed();
    },
  });
  return journal;
}

/** Render again when the journal has something new. */
export function useJournalVersion(journal: Journal): number {
  return useSyncExternalStore(journal.subscribe, () => journal.version);
}

export interface Travel {
  readonly journal: Journal;
  /** The entry that is looked at; null: live. It changes at once, while a slider is dragged. */
  readonly at: number | null;
  /** The same once it rests: what must be asked of the server is asked for this one. */
  readonly settled: number | null;
  readonly go: (at: number | null) => void;
}

const REST = 250;

/** The entry that an address names; null: live. */
function entryIn(parameters: URLSearchParams): number | null {
  const text = parameters.get("at") ?? "";
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}

/** Where in the journal the view is: `at` of the address, written there once it rests. */
export function useTravel(journal: Journal): Travel {
  const [parameters, set] = useParameters();
  const named = entryIn(parameters);
  const [state, setState] = useState<{ named: number | null; at: number | null }>({ named, at: named });
  // another address is another entry: the slider follows it
  if (state.named !== named) setState({ named, at: named });
  const at = state.named === named ? state.at : named;
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const go = useCallback(
    (next: number | null) => {
      setState((now) => ({ ...now, at: next }));
      clearTimeout(timer.current);
      timer.current = setTimeout(() => set({ at: next === null ? null : String(next) }), REST);
    },
    [set],
  );
  useEffect(() => {
    // somebody went elsewhere by the address itself: what was about to be written there is over
    const moved = (): void => {
      clearTimeout(timer.current);
      const now = entryIn(new URLSearchParams(partsOf(window.location.hash)[1]));
      setState({ named: now, at: now });
    };
    window.addEventListener("hashchange", moved);
    return () => {
      window.removeEventListener("hashchange", moved);
      clearTimeout(timer.current);
    };
  }, []);
  useEffect(() => {
    journal.look(at ?? Number.MAX_SAFE_INTEGER);
  }, [journal, at]);
  return useMemo(() => ({ journal, at, settled: named, go }), [journal, at, named, go]);
}

const TravelContext = createContext<Travel | null>(null);
export const TravelProvider = TravelContext.Provider;

export function useTravelled(): Travel {
  const travel = useContext(TravelContext);
  if (travel === null) throw new Error("there is no run here");
  return travel;
}
