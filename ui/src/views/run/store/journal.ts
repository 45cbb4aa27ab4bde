/** One run at any of its journal entries, folded in the browser from deltas that are fetched ahead.
 *
 * The journal is held in chunks. Each has the run after its first entry, and what each later entry changed; a position is
 * folded from the nearest point kept before it. So dragging over what was fetched asks the server nothing. */
import { applyPatch, type Operation } from "./patch.ts";
import type { Schemas } from "../../../lib/api/client.ts";

export type Counts = Schemas["NodeCounts"];
export type NodeCounts = Readonly<Record<string, Counts>>;
export type RunGraph = Schemas["RunGraph"];
export type Delta = Schemas["EntryChanges"];
export type EntryView = Schemas["EntryView"];
export type RunContext = Schemas["Context"];
export type Place = keyof Counts;

export const PLACES: readonly Place[] = ["active", "waiting", "done", "failed", "stopped", "skipped"];
export const CHUNK = 200;
const KEPT_EVERY = 20;
const ALL_AHEAD = 25; // chunks: shorter journals are fetched whole

/** The run after an entry. */
export interface Point {
  readonly counts: NodeCounts;
  readonly context: unknown;
}

interface Chunk {
  readonly first: number;
  readonly deltas: Delta[];
  readonly entries: EntryView[];
  readonly kept: Map<number, Point>;
}

/** What the journal asks of the server. */
export interface Source {
  graph(at: number | null, signal: AbortSignal): Promise<RunGraph>;
  context(at: number, signal: AbortSignal): Promise<RunContext>;
  deltas(from: number, to: number, signal: AbortSignal): Promise<Delta[]>;
  entries(after: number, limit: number, signal: AbortSignal): Promise<EntryView[]>;
}

export const NONE: Counts = { active: 0, waiting: 0, done: 0, failed: 0, stopped: 0, skipped: 0 };

/** Counts with the changes of one entry. */
export function withChanges(counts: NodeCounts, changes: Delta["nodes"]): NodeCounts {
  const next: Record<string, Counts> = { ...counts };
  for (const [node, places] of Object.entries(changes)) {
    const sum = { ...(next[node] ?? NONE) };
    for (const place of PLACES) sum[place] += places[place] ?? 0;
    next[node] = sum;
  }
  return next;
}

export class Journal {
  readonly #source: Source;
  readonly #chunks = new Map<number, Chunk>();
  readonly #watchers = new Set<() => void>();
  readonly #stop = new AbortController();
  #live: RunGraph | null = null;
  #error: unknown = null;
  #version = 0;
  #wanted = 0;
  #loading = false;
  #refreshing = false;
  #again = false;
  #refreshed = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(source: Source) {
    this.#source = source;
  }

  /** Ask for the run as it is, and fetch ahead. */
  start(): void {
    void this.#refresh();
  }

  close(): void {
    this.#stop.abort();
    clearTimeout(this.#timer);
    this.#watchers.clear();
  }

  subscribe = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  /** A number that changes when anything here did. */
  get version(): number {
    return this.#version;
  }

  /** The graph as it is now. */
  get live(): RunGraph | null {
    return this.#live;
  }

  get error(): unknown {
    return this.#error;
  }

  /** The number of the last entry; -1: not known yet. */
  get last(): number {
    return this.#live?.entry ?? -1;
  }

  /** How many tokens there were so far. */
  get tokens(): number {
    let sum = 0;
    for (const counts of Object.values(this.#live?.nodes ?? {})) for (const place of PLACES) sum += counts[place];
    return sum;
  }

  /** Something happened in the run: read its graph again, soon, and once for many calls. */
  touch(): void {
    if (this.#refreshing) {
      this.#again = true;
      return;
    }
    // a run that is expensive to read is read less often
    this.#timer ??= setTimeout(() => void this.#refresh(), Math.max(150, Math.min(5_000, this.#refreshed * 2)));
  }

  /** Look at an entry: what is around it is fetched first. */
  look(at: number): void {
    this.#wanted = at;
    void this.#fetchAhead();
  }

  /** Try again what failed. */
  retry(): void {
    this.#error = null;
    void this.#refresh();
    void this.#fetchAhead();
  }

  /** The run after an entry; null while that was not fetched. */
  at(position: number): Point | null {
    const chunk = this.#chunks.get(Math.floor(position / CHUNK));
    if (chunk === undefined || position > chunk.first + chunk.deltas.length) return null;
    const known = chunk.kept.get(position);
    if (known !== undefined) return known;
    let from = position;
    while (!chunk.kept.has(from)) from -= 1;
    let { counts, context } = chunk.kept.get(from) as Point;
    for (let entry = from + 1; entry <= position; entry += 1) {
      const delta = chunk.deltas[entry - chunk.first - 1] as Delta;
      counts = withChanges(counts, delta.nodes);
      context = applyPatch(context, delta.context as unknown as Operation[]);
      if (entry % KEPT_EVERY === 0) chunk.kept.set(entry, { counts, context });
    }
    return { counts, context };
  }

  /** What an entry changed; null while that was not fetched. Of the first entry of all it is not known. */
  delta(entry: number): Delta | null {
    const chunk = this.#chunks.get(Math.floor((entry - 1) / CHUNK));
    return chunk?.deltas[entry - 1 - chunk.first] ?? null;
  }

  /** An entry as lists show it; null while it was not fetched. */
  entry(number: number): EntryView | null {
    const chunk = this.#chunks.get(Math.floor(number / CHUNK));
    return chunk?.entries[number - chunk.first] ?? null;
  }

  /** The entries that were fetched, with their deltas, in order. */
  *known(): Generator<{ entry: EntryView; delta: Delta | null }> {
    for (const key of [...this.#chunks.keys()].sort((a, b) => a - b)) {
      for (const entry of this.#chunks.get(key)?.entries ?? []) yield { entry, delta: this.delta(entry.number) };
    }
  }

  /** The next entry in which a node failed, before or behind a position; null: there is none. */
  async failure(from: number, step: 1 | -1): Promise<number | null> {
    for (let at = from + step; at >= 0 && at <= this.last; at += step) {
      if (this.entry(at) === null || (at > 0 && this.delta(at) === null)) await this.#load(Math.floor(at / CHUNK));
      if (this.failedIn(at)) return at;
    }
    return null;
  }

  failedIn(entry: number): boolean {
    const delta = this.delta(entry);
    if (delta !== null) return Object.values(delta.nodes).some((places) => (places["failed"] ?? 0) > 0);
    return this.entry(entry)?.decisions.some((kind) => kind === "fail_node" || kind === "break_node") ?? false;
  }

  async #refresh(): Promise<void> {
    this.#timer = undefined;
    this.#refreshing = true;
    const began = performance.now();
    try {
      const graph = await this.#source.graph(null, this.#stop.signal);
      this.#error = null;
      if (this.#live === null || graph.entry >= this.#live.entry) this.#live = graph;
      this.#tell();
      void this.#fetchAhead();
    } catch (error) {
      this.#failed(error);
    } finally {
      this.#refreshing = false;
      this.#refreshed = performance.now() - began;
      if (this.#again) {
        this.#again = false;
        this.touch();
      }
    }
  }

  /** The chunks that are worth having, the most wanted first. */
  #order(): number[] {
    const last = Math.floor(this.last / CHUNK);
    const here = Math.floor(Math.min(this.#wanted, this.last) / CHUNK);
    const near = [here, here - 1, here + 1, last, 0].filter((key) => key >= 0 && key <= last);
    if (last < ALL_AHEAD) for (let key = 0; key <= last; key += 1) near.push(key);
    return [...new Set(near)];
  }

  #complete(key: number): boolean {
    const chunk = this.#chunks.get(key);
    if (chunk === undefined) return false;
    const end = Math.min(this.last, chunk.first + CHUNK);
    return chunk.first + chunk.deltas.length >= end && chunk.first + chunk.entries.length > Math.min(this.last, chunk.first + CHUNK - 1);
  }

  async #fetchAhead(): Promise<void> {
    if (this.#loading || this.last < 0) return;
    this.#loading = true;
    try {
      for (;;) {
        const key = this.#order().find((each) => !this.#complete(each));
        if (key === undefined || this.#stop.signal.aborted) break;
        await this.#load(key);
      }
    } catch (error) {
      this.#failed(error);
    } finally {
      this.#loading = false;
    }
  }

  async #load(key: number): Promise<void> {
    const first = key * CHUNK;
    const signal = this.#stop.signal;
    let chunk = this.#chunks.get(key);
    if (chunk === undefined) {
      const known = this.#chunks.get(key - 1);
      const before = known !== undefined && known.deltas.length === CHUNK ? this.#fold(known) : null;
      const base = before ?? (await this.#base(first, signal));
      chunk = { first, deltas: [], entries: [], kept: new Map([[first, base]]) };
    }
    const { deltas, entries } = chunk;
    const end = Math.min(this.last, first + CHUNK);
    const from = first + deltas.length + 1;
    const after = first + entries.length - 1;
    const upTo = Math.min(this.last, first + CHUNK - 1);
    const [moreDeltas, moreEntries] = await Promise.all([
      from <= end ? this.#source.deltas(from, end, signal) : [],
      after < upTo ? this.#source.entries(after, upTo - after, signal) : [],
    ]);
    // another call may have loaded the same meanwhile
    for (const delta of moreDeltas) if (delta.entry === first + deltas.length + 1) deltas.push(delta);
    for (const entry of moreEntries) if (entry.number === first + entries.length) entries.push(entry);
    if (!this.#chunks.has(key)) this.#chunks.set(key, chunk);
    this.#tell();
  }

  /** The run after the last entry of a whole chunk, which is the first of the next. */
  #fold(chunk: Chunk): Point | null {
    const before = this.at(chunk.first + CHUNK - 1);
    const delta = chunk.deltas[CHUNK - 1];
    if (before === null || delta === undefined) return null;
    return { counts: withChanges(before.counts, delta.nodes), context: applyPatch(before.context, delta.context as unknown as Operation[]) };
  }

  async #base(at: number, signal: AbortSignal): Promise<Point> {
    const [graph, context] = await Promise.all([this.#source.graph(at, signal), this.#source.context(at, signal)]);
    return { counts: graph.nodes, context };
  }

  #failed(error: unknown): void {
    if (this.#stop.signal.aborted) return;
    this.#error = error;
    this.#tell();
  }

  #tell(): void {
    this.#version += 1;
    for (const watcher of this.#watchers) watcher();
  }
}
