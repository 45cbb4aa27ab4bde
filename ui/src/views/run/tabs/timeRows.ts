/** The rows and the axis of a timeline. Time in which nothing happened is folded. */
import type { Run } from "../../../lib/api/queries.ts";
import type { Token } from "./Tokens.tsx";

export interface Row {
  readonly key: string;
  readonly node: string;
  /** Null: a row for all tokens of a node. */
  readonly token: Token | null;
  readonly tokens: readonly Token[];
  /** The run that the token of the row before called. */
  readonly child?: Run;
  readonly open: boolean;
  readonly inside: boolean;
}

const DENSE = 30; // tokens of one node: more are one row until it is opened

/** Rows by node in the order of their first tokens, then by slot. `open` has names of nodes, encoded. */
export function rowsOf(tokens: readonly Token[], open: ReadonlySet<string>, children: readonly Run[] = []): Row[] {
  const rows: Row[] = [];
  const byId = new Map(children.map((run) => [run.run_id, run]));
  for (const [node, mine] of Map.groupBy(tokens, (token) => token.node)) {
    const dense = mine.length > DENSE;
    const opened = dense && open.has(encodeURIComponent(node));
    if (dense) rows.push({ key: `node ${node}`, node, token: null, tokens: mine, open: opened, inside: false });
    if (dense && !opened) continue;
    for (const token of mine) {
      rows.push({ key: String(token.id), node, token, tokens: [token], open: false, inside: dense });
      const child = token.child === null ? undefined : byId.get(token.child);
      if (child !== undefined) rows.push({ key: child.run_id, node: child.workflow, token: null, tokens: [], child, open: false, inside: true });
    }
  }
  return rows;
}

/** Pieces of time one after the other. A folded one is drawn as a gap of one width, however long it was. */
export interface Piece {
  readonly from: number;
  readonly to: number;
  readonly left: number;
  readonly right: number;
  readonly folded: boolean;
}
export type Axis = readonly Piece[];

const FOLD_WIDTH = 0.08;
const FOLD_FROM = 0.25; // of the whole time: shorter idle times are drawn as they were
const MOST_MOMENTS = 20_000;

export function axisOf(rows: readonly Row[], start: number, end: number, range: readonly [number, number] | null): Axis {
  const [first, last] = range ?? [start, Math.max(end, start + 1)];
  const moments: number[] = [first, last];
  for (const row of rows) {
    for (const token of row.tokens) {
      if (moments.length > MOST_MOMENTS) break;
      for (const time of [token.created_at, token.since, token.ended_at]) if (time !== null) moments.push(new Date(time).getTime());
    }
  }
  const sorted = moments.filter((time) => time >= first && time <= last).sort((a, b) => a - b);
  const whole = last - first;
  const folds: [number, number][] = [];
  for (let at = 1; at < sorted.length; at += 1) {
    const [a, b] = [sorted[at - 1] ?? first, sorted[at] ?? last];
    if (b - a > whole * FOLD_FROM && b - a > 60_000) folds.push([a, b]);
  }
  const shown = whole - folds.reduce((sum, [a, b]) => sum + b - a, 0);
  const room = 1 - FOLD_WIDTH * folds.length;
  const pieces: Piece[] = [];
  let [time, left] = [first, 0];
  for (const [a, b] of folds) {
    const width = shown <= 0 ? 0 : ((a - time) / shown) * room;
    pieces.push({ from: time, to: a, left, right: left + width, folded: false }, { from: a, to: b, left: left + width, right: left + width + FOLD_WIDTH, folded: true });
    [time, left] = [b, left + width + FOLD_WIDTH];
  }
  pieces.push({ from: time, to: last, left, right: 1, folded: false });
  return pieces;
}

/** Where a time is, from 0 to 1. */
export function placeOfTime(axis: Axis, time: number): number {
  for (const piece of axis) if (time <= piece.to) return piece.left + (piece.to === piece.from ? 0 : (Math.max(0, time - piece.from) / (piece.to - piece.from)) * (piece.right - piece.left));
  return 1;
}

export function timeAt(axis: Axis, place: number): number {
  for (const piece of axis) if (place <= piece.right) return piece.from + (piece.right === piece.left ? 0 : (Math.max(0, place - piece.left) / (piece.right - piece.left)) * (piece.to - piece.from));
  return axis.at(-1)?.to ?? 0;
}
