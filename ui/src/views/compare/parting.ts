/** The first journal entry in which two runs did not do the same. */
import { api, type Schemas } from "../../lib/api/client.ts";
import type { RunRecord } from "../../lib/api/queries.ts";

type EntryView = Schemas["EntryView"];

export interface Parted {
  /** The entry in which they differ; null: they do not. */
  readonly entry: number | null;
  /** How many entries they share. */
  readonly shared: number;
  readonly a: string | null;
  readonly b: string | null;
}

const PAGE = 500;

/** What makes two entries the same: what was decided, and the words for it. */
function key(entry: EntryView | undefined): string {
  return entry === undefined ? "" : `${entry.text} ${entry.decisions.join()}`;
}

/** Where a fork leaves the run it shares its history with; null: neither is a fork of the other. */
function forkedAt(a: RunRecord, b: RunRecord): number | null {
  if (b.forked_from?.run_id === a.run_id) return b.forked_from.entry + 1;
  if (a.forked_from?.run_id === b.run_id) return a.forked_from.entry + 1;
  return null;
}

export async function whereTheyPart(a: RunRecord, b: RunRecord, signal: AbortSignal): Promise<Parted> {
  let from = forkedAt(a, b) ?? 0;
  const read = async (run: string): Promise<EntryView[]> => (await api.get("/v1/runs/{run}/entries", { path: { run }, query: { after: from - 1, limit: PAGE }, signal })).entries;
  for (;;) {
    const [one, other] = await Promise.all([read(a.run_id), read(b.run_id)]);
    for (let at = 0; at < Math.max(one.length, other.length); at += 1) {
      if (key(one[at]) !== key(other[at])) return { entry: from + at, shared: from + at, a: one[at]?.text ?? null, b: other[at]?.text ?? null };
    }
    from += one.length;
    if (one.length < PAGE) return { entry: null, shared: from, a: null, b: null };
  }
}
