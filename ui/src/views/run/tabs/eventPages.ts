/** Events of a run by their sequence numbers, in pages that are fetched when they come into view. */
import { api } from "../../../lib/api/client.ts";

export type RunEvent = Readonly<Record<string, unknown>> & { readonly seq: number; readonly at: string; readonly type: string };

const PAGE = 200;
const MOST_PAGES = 60; // kept; what was seen longest ago goes first
const SCAN = 1_000;
const MOST_FOUND = 5_000;

/** An event in one line: `17 token.completed token 3`. */
export function eventText(event: RunEvent): string {
  const parts: string[] = [];
  for (const [name, value] of Object.entries(event)) {
    if (["seq", "at", "run_id", "type"].includes(name) || value === null) continue;
    const text = typeof value === "string" ? value : JSON.stringify(value);
    parts.push(`${name} ${text.length > 160 ? `${text.slice(0, 160)}…` : text}`);
  }
  return parts.join(" · ");
}

export class EventPages {
  readonly #run: string;
  readonly #pages = new Map<number, RunEvent[]>();
  readonly #asked = new Set<number>();
  readonly #stop = new AbortController();
  readonly #changed: () => void;
  /** How many events there are, as far as is known. */
  total = 0;
  error: unknown = null;

  constructor(run: string, changed: () => void) {
    this.#run = run;
    this.#changed = changed;
  }

  close(): void {
    this.#stop.abort();
  }

  event(seq: number): RunEvent | null {
    return this.#pages.get(Math.floor(seq / PAGE))?.[seq % PAGE] ?? null;
  }

  /** There are at least so many events: pages that were cut off are read again. */
  grow(total: number): void {
    if (total <= this.total) return;
    this.total = total;
    this.#changed();
  }

  /** Read the page of an event, and the first one, before it is known how many there are. */
  begin(seq: number): void {
    for (const page of new Set([Math.floor(seq / PAGE), 0])) void this.#load(page);
  }

  /** Find out where the events end: behind those of the last journal entry. */
  async measure(lastEntry: number): Promise<void> {
    const { signal } = this.#stop;
    try {
      const { entries } = await api.get("/v1/runs/{run}/entries", { path: { run: this.#run }, query: { after: lastEntry - 1, limit: 1 }, signal });
      let after = Math.max(entries[0]?.first_event ?? 0, this.total) - 1;
      for (;;) {
        const { events, next } = await this.#read(after, SCAN);
        const last = events.at(-1);
        if (last !== undefined) this.grow(last.seq + 1);
        if (next === null) return;
        after = next;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** See to it that these events are there. */
  need(first: number, last: number): void {
    for (let page = Math.floor(first / PAGE); page <= Math.floor(Math.max(first, last - 1) / PAGE); page += 1) {
      const known = this.#pages.get(page);
      const complete = known !== undefined && (known.length === PAGE || page * PAGE + known.length >= this.total);
      if (!complete && !this.#asked.has(page)) void this.#load(page);
    }
  }

  /** All events whose line has a text, from the first on; tells now and then how far it is. */
  async *find(wanted: string, signal: AbortSignal): AsyncGenerator<{ readonly found: readonly RunEvent[]; readonly searched: number; readonly done: boolean }> {
    const found: RunEvent[] = [];
    const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
    let after = -1;
    for (;;) {
      const { events, next } = await this.#read(after, SCAN);
      if (signal.aborted) return;
      for (const event of events) {
        const line = `${String(event.seq)} ${event.type} ${eventText(event)}`.toLowerCase();
        if (words.every((word) => line.includes(word))) found.push(event);
      }
      const done = next === null || found.length >= MOST_FOUND;
      yield { found: found.slice(0, MOST_FOUND), searched: (events.at(-1)?.seq ?? after) + 1, done };
      if (done) return;
      after = next;
    }
  }

  async #load(page: number): Promise<void> {
    this.#asked.add(page);
    try {
      const { events } = await this.#read(page * PAGE - 1, PAGE);
      this.#pages.delete(page);
      this.#pages.set(page, events);
      for (const old of this.#pages.keys()) if (this.#pages.size > MOST_PAGES) this.#pages.delete(old);
      this.error = null;
      this.total = Math.max(this.total, (events.at(-1)?.seq ?? -1) + 1);
    } catch (error) {
      if (!this.#stop.signal.aborted) this.error = error;
    } finally {
      this.#asked.delete(page);
      if (!this.#stop.signal.aborted) this.#changed();
    }
  }

  async #read(after: number, limit: number): Promise<{ events: RunEvent[]; next: number | null }> {
    const { events, next } = await api.get("/v1/runs/{run}/events", { path: { run: this.#run }, query: { after, limit }, signal: this.#stop.signal });
    return { events: events as unknown as RunEvent[], next };
  }
}
