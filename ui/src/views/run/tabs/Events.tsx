import { useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import { Link } from "wouter";

import type { RunRecord } from "../../../lib/api/queries.ts";
import { useParameters } from "../../../lib/location.ts";
import { count } from "../../../lib/numbers.ts";
import { useShortcuts } from "../../../lib/shortcuts.ts";
import { exact } from "../../../lib/time.ts";
import { Button } from "../../../parts/Button.tsx";
import { JsonTree } from "../../../parts/JsonTree.tsx";
import { ProblemAlert } from "../../../parts/ProblemAlert.tsx";
import { SkeletonRows } from "../../../parts/Waiting.tsx";
import { SearchIcon } from "../../../parts/icons.tsx";
import { choosing, useHere } from "../here.ts";
import { useJournalVersion, useTravelled } from "../store/hooks.ts";
import type { Journal } from "../store/journal.ts";
import { EventPages, eventText, type RunEvent } from "./eventPages.ts";
import { useVirtual } from "./virtual.ts";

const ROW = 28;

/** The pages of a run's events, and a number that changes with them. */
function useEventPages(run: string): [EventPages, number] {
  const [version, setVersion] = useState(0);
  const [held, setHeld] = useState<EventPages | null>(null);
  const empty = useMemo(() => new EventPages(run, () => undefined), [run]);
  useEffect(() => {
    const pages = new EventPages(run, () => setVersion((before) => before + 1));
    setHeld(pages);
    return () => pages.close();
  }, [run]);
  return [held ?? empty, version];
}

/** How many events there were after an entry: up to the first of the next. Null: all. */
function useBound(journal: Journal, at: number | null): number | null {
  useJournalVersion(journal);
  if (at === null || at >= journal.last) return null;
  return journal.entry(at + 1)?.first_event ?? null;
}

/** The run's events: a list that seeks, filters and follows. */
export function Events({ record }: { readonly record: RunRecord }): ReactNode {
  const { journal, at } = useTravelled();
  const run = record.run_id;
  const [pages, version] = useEventPages(run);
  const [parameters, set] = useParameters();
  const filter = parameters.get("filter") ?? "";
  const seqText = parameters.get("seq");
  const seq = seqText === null ? null : Number(seqText);
  const [problem, setProblem] = useState<unknown>(null);
  const last = journal.last;
  useEffect(() => {
    pages.begin(seq ?? 0); // what is looked at comes first; how many there are takes longer to find out
  }, [pages]); // eslint-disable-line react-hooks/exhaustive-deps -- later numbers are sought when they are in view
  useEffect(() => {
    if (last >= 0) pages.measure(last).then(() => setProblem(null), (error: unknown) => setProblem(error));
  }, [pages, last]);
  const bound = useBound(journal, at);
  const total = Math.min(pages.total, bound ?? Infinity);
  const found = useFound(pages, filter, last);
  const rows = filter === "" ? total : found.events.filter((event) => event.seq < total).length;
  const search = useRef<HTMLInputElement>(null);
  useShortcuts("Events", [{ keys: "/", label: "Filter events", run: () => search.current?.focus() }]);
  const shownProblem = problem ?? pages.error;
  return (
    <div className="events">
      <div className="events-bar">
        <div className="search"><SearchIcon size={14} /><input ref={search} type="search" className="input" aria-label="Filter events" placeholder="Filter events" value={filter} onChange={(event) => set({ filter: event.target.value })} /></div>
        <label className="go-to"><span className="muted">Go to</span><GoTo total={total} seq={seq} onSeq={(next) => set({ seq: next === null ? null : String(next) })} /></label>
        <span className="muted numbers">{filter === "" ? `${count(total)} events` : `${count(rows)} found${found.done ? "" : `, ${count(found.searched)} of ${count(pages.total)} searched`}`}</span>
      </div>
      {shownProblem !== null && <ProblemAlert error={shownProblem} />}
      <div className={seq === null ? undefined : "events-two"}>
        <Rows key={filter} pages={pages} version={version} rows={rows} found={filter === "" ? null : found.events} live={at === null} chosen={seq} onChoose={(next) => set({ seq: next === null ? null : String(next) })} />
        {seq !== null && <Details event={pages.event(seq) ?? found.events.find((each) => each.seq === seq) ?? null} journal={journal} onClose={() => set({ seq: null })} />}
      </div>
    </div>
  );
}

function GoTo({ total, seq, onSeq }: { readonly total: number; readonly seq: number | null; readonly onSeq: (seq: number | null) => void }): ReactNode {
  const [text, setText] = useState(seq === null ? "" : String(seq));
  const [known, setKnown] = useState(seq);
  if (known !== seq) {
    setKnown(seq);
    if (seq !== null) setText(String(seq));
  }
  const go = (): void => {
    if (/^\d+$/.test(text.trim())) onSeq(Math.min(Math.max(0, total - 1), Number(text)));
  };
  return (
    <input
      type="number" className="input" aria-label="Go to sequence" min={0} max={Math.max(0, total - 1)} value={text} placeholder="sequence"
      onChange={(event) => setText(event.target.value)} onBlur={go} onKeyDown={(event) => { if (event.key === "Enter") go(); }}
    />
  );
}

interface Found {
  readonly events: readonly RunEvent[];
  readonly searched: number;
  readonly done: boolean;
}
const NOTHING: Found = { events: [], searched: 0, done: true };

/** What a filter finds, read page by page from the first event on. */
function useFound(pages: EventPages, filter: string, last: number): Found {
  const [found, setFound] = useState<Found>(NOTHING);
  useEffect(() => {
    if (filter.trim() === "") {
      setFound(NOTHING);
      return;
    }
    const stop = new AbortController();
    const timer = setTimeout(() => {
      const run = async (): Promise<void> => {
        for await (const part of pages.find(filter, stop.signal)) setFound({ events: part.found, searched: part.searched, done: part.done });
      };
      run().catch(() => { if (!stop.signal.aborted) setFound((before) => ({ ...before, done: true })); });
    }, 200);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [pages, filter, last]);
  return found;
}

interface RowsProps {
  readonly pages: EventPages;
  readonly version: number;
  readonly rows: number;
  readonly found: readonly RunEvent[] | null;
  readonly live: boolean;
  readonly chosen: number | null;
  readonly onChoose: (seq: number | null) => void;
}

function Rows({ pages, rows, found, live, chosen, onChoose }: RowsProps): ReactNode {
  const { box, first, last, offset, height, atEnd, scrollTo } = useVirtual(rows, ROW);
  const following = useRef(chosen === null);
  const grown = useRef(0);
  useEffect(() => {
    if (found === null && rows > 0) pages.need(first, last);
  });
  useEffect(() => {
    // new events are followed by whoever looks at the last ones
    if (rows > grown.current && following.current && live && found === null) scrollTo(rows - 1, "end");
    grown.current = rows;
  }, [rows, live, found, scrollTo]);
  useEffect(() => {
    if (grown.current === rows && rows > 0) following.current = atEnd;
  }, [atEnd, rows]);
  const jumped = useRef<number | null>(null);
  useEffect(() => {
    if (chosen === null || rows === 0 || jumped.current === chosen) return;
    const row = found === null ? chosen : found.findIndex((event) => event.seq === chosen);
    if (row < 0 || row >= rows) return;
    jumped.current = chosen;
    following.current = false;
    if (row < first + 6 || row > last - 8) scrollTo(row, "center");
  }, [chosen, rows, found, first, last, scrollTo]);
  const seen: { row: number; event: RunEvent | null }[] = [];
  for (let row = first; row < last; row += 1) seen.push({ row, event: found === null ? pages.event(row) : (found[row] ?? null) });
  return (
    <div ref={box} role="log" aria-label="Events" aria-live="off" tabIndex={0} className="panel event-list">
      {rows === 0 && found === null && <SkeletonRows rows={8} label="Events are loading" />}
      <div style={{ height }}>
        <div style={{ transform: `translateY(${String(offset)}px)` }}>
          {seen.map(({ row, event }) => (event === null ? (
            <div key={row} className="event-row muted" style={{ height: ROW }}>{found === null ? `${String(row)} …` : "…"}</div>
          ) : (
            <div key={row} className="event-row" data-chosen={event.seq === chosen || undefined} style={{ height: ROW }} onClick={() => { jumped.current = event.seq; onChoose(event.seq === chosen ? null : event.seq); }}>
              <span className="seq numbers">{event.seq}</span>{" "}<span className={`type ${toneOf(event.type)}`}>{event.type}</span>{" "}<span className="cut given">{eventText(event)}</span>{" "}<time className="muted numbers">{exact(event.at).slice(11)}</time>
            </div>
          )))}
        </div>
      </div>
    </div>
  );
}

function toneOf(type: string): string {
  if (/failed|timed_out|exhausted|lost/.test(type)) return "look-failed";
  if (/completed|opened|answered/.test(type)) return "look-completed";
  if (/waiting|parked|gate|retry|sleep/.test(type)) return "look-waiting";
  if (/cancel|stopped|skipped/.test(type)) return "look-cancelled";
  return /started|dispatched|executing/.test(type) ? "look-running" : "look-idle";
}

function Details({ event, journal, onClose }: { readonly event: RunEvent | null; readonly journal: Journal; readonly onClose: () => void }): ReactNode {
  const here = useHere();
  if (event === null) return null;
  const token = event["token"];
  let entry: number | null = null;
  for (const each of journal.known()) if (each.entry.first_event <= event.seq) entry = each.entry.number;
  return (
    <section aria-label={`Event ${String(event.seq)}`} className="panel event-details">
      <div className="panel-head"><h2 className="given">{event.type}</h2><span className="spring" /><Button small variant="quiet" onClick={onClose}>Close</Button></div>
      <div className="panel-body">
        <p className="event-links">
          {entry !== null && <Link className="link" href={here({ at: String(entry) })}>entry {entry}</Link>}
          {typeof token === "number" && <Link className="link" href={here({ ...choosing(token), tab: "explain" })}>token {token}</Link>}
        </p>
        <JsonTree key={event.seq} label={`Fields of event ${String(event.seq)}`} value={event} />
      </div>
    </section>
  );
}
