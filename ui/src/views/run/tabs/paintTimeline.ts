/** Draws the bars of a timeline: one for each token, or how many there were at each moment. */
import type { Run } from "../../../lib/api/queries.ts";
import { lookOf } from "../../../lib/statuses.ts";
import { duration } from "../../../lib/time.ts";
import { tokenStatus } from "./Tokens.tsx";
import { placeOfTime, type Axis, type Row } from "./timeRows.ts";

export const ROW = 26;
const BAR = 12;

interface Size {
  readonly width: number;
  readonly height: number;
}
type Colour = (name: string) => string;

export function paintTimeline(ctx: CanvasRenderingContext2D, size: Size, rows: readonly Row[], top: number, axis: Axis, end: number, colour: Colour, drag: { from: number; to: number } | null): void {
  ctx.clearRect(0, 0, size.width, size.height);
  const x = (time: number): number => placeOfTime(axis, time) * size.width;
  for (const piece of axis) {
    if (!piece.folded) continue;
    const [left, width] = [piece.left * size.width, (piece.right - piece.left) * size.width];
    ctx.fillStyle = colour("subtle");
    ctx.fillRect(left, 0, width, size.height);
    ctx.fillStyle = colour("ink-3");
    ctx.font = "11px system-ui, sans-serif";
    ctx.textAlign = "center";
    ctx.fillText(`┆ ${duration(piece.to - piece.from)} ┆`, left + width / 2, 12);
  }
  for (const [index, row] of rows.entries()) {
    const y = top + index * ROW;
    ctx.strokeStyle = colour("line");
    ctx.lineWidth = 1;
    ctx.beginPath();
    ctx.moveTo(0, y + ROW - 0.5);
    ctx.lineTo(size.width, y + ROW - 0.5);
    ctx.stroke();
    if (row.child !== undefined) childBar(ctx, row.child, y, x, end, colour);
    else if (row.token === null) density(ctx, size, row, y, x, end, colour);
    else bar(ctx, row, y, x, end, colour);
  }
  if (drag !== null) {
    ctx.fillStyle = colour("focus");
    ctx.globalAlpha = 0.2;
    ctx.fillRect(Math.min(drag.from, drag.to), 0, Math.abs(drag.to - drag.from), size.height);
    ctx.globalAlpha = 1;
  }
}

function bar(ctx: CanvasRenderingContext2D, row: Row, y: number, x: (time: number) => number, end: number, colour: Colour): void {
  const { token } = row;
  if (token === null) return;
  const { status } = tokenStatus(token);
  const [created, since] = [new Date(token.created_at).getTime(), new Date(token.since).getTime()];
  const over = token.ended_at === null ? end : new Date(token.ended_at).getTime();
  const look = lookOf(status);
  const waits = token.ended_at === null && status === "waiting";
  const from = x(created);
  const until = Math.max(from + 2, x(waits ? since : over));
  ctx.fillStyle = colour(waits ? "running" : look);
  ctx.beginPath();
  ctx.roundRect(from, y + (ROW - BAR) / 2, until - from, BAR, 3);
  ctx.fill();
  for (const retry of token.retries) {
    // between two attempts it waits; where one failed stands a mark
    const failed = x(new Date(retry.failed_at).getTime());
    hatch(ctx, failed, Math.max(failed + 3, x(retry.again_at === null ? over : new Date(retry.again_at).getTime())), y, colour);
    ctx.fillStyle = colour("failed");
    ctx.fillRect(failed - 1, y + (ROW - BAR) / 2 - 2, 2.5, BAR + 4);
  }
  if (waits) hatch(ctx, until, Math.max(until + 3, x(over)), y, colour);
}

/** What waits is hatched. */
function hatch(ctx: CanvasRenderingContext2D, from: number, to: number, y: number, colour: Colour): void {
  ctx.save();
  ctx.beginPath();
  ctx.roundRect(from, y + (ROW - BAR) / 2, to - from, BAR, 3);
  ctx.fillStyle = colour("surface");
  ctx.fill();
  ctx.fillStyle = colour("waiting-soft");
  ctx.fill();
  ctx.clip();
  ctx.strokeStyle = colour("waiting");
  ctx.lineWidth = 1.5;
  ctx.beginPath();
  for (let at = from - BAR; at < to; at += 7) {
    ctx.moveTo(at, y + ROW);
    ctx.lineTo(at + ROW, y);
  }
  ctx.stroke();
  ctx.restore();
}

/** The run that a token called: a thinner bar. */
function childBar(ctx: CanvasRenderingContext2D, child: Run, y: number, x: (time: number) => number, end: number, colour: Colour): void {
  const from = x(new Date(child.started_at ?? child.submitted_at).getTime());
  const until = Math.max(from + 2, x(child.completed_at === null ? end : new Date(child.completed_at).getTime()));
  ctx.fillStyle = colour(lookOf(child.status));
  ctx.beginPath();
  ctx.roundRect(from, y + (ROW - BAR / 2) / 2, until - from, BAR / 2, 3);
  ctx.fill();
}

/** Of many tokens: how many there were at each moment, and in red how many failed. */
function density(ctx: CanvasRenderingContext2D, size: Size, row: Row, y: number, x: (time: number) => number, end: number, colour: Colour): void {
  const width = Math.max(1, Math.floor(size.width));
  const steps = new Int32Array(width + 2);
  const failed = new Int32Array(width + 2);
  for (const token of row.tokens) {
    const from = Math.max(0, Math.min(width, Math.floor(x(new Date(token.created_at).getTime()))));
    const until = Math.max(from + 1, Math.min(width + 1, Math.ceil(x(token.ended_at === null ? end : new Date(token.ended_at).getTime()))));
    steps[from] = (steps[from] ?? 0) + 1;
    steps[until] = (steps[until] ?? 0) - 1;
    if (token.status === "failed" || token.status === "timed_out") failed[Math.min(width, until)] = (failed[Math.min(width, until)] ?? 0) + 1;
  }
  let most = 1;
  let now = 0;
  for (let at = 0; at < width; at += 1) most = Math.max(most, (now += steps[at] ?? 0));
  now = 0;
  ctx.fillStyle = colour("running");
  for (let at = 0; at < width; at += 1) {
    now += steps[at] ?? 0;
    if (now <= 0) continue;
    const tall = Math.max(2, (now / most) * (ROW - 8));
    ctx.fillRect(at, y + ROW - 4 - tall, 1, tall);
  }
  ctx.fillStyle = colour("failed");
  for (let at = 0; at <= width; at += 1) if ((failed[at] ?? 0) > 0) ctx.fillRect(at - 1, y + ROW - 4, 3, 3);
}
