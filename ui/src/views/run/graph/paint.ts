/** Draws a scene on a canvas: only what is in view, and only as much of it as can be seen at this size. */
import { count } from "../../../lib/numbers.ts";
import type { Look } from "../../../lib/statuses.ts";
import { PLACES, NONE, type NodeCounts } from "../store/journal.ts";
import type { Camera, Size } from "./camera.ts";
import { GLYPHS, LOOK_OF, SLOT_LOOKS, binned, toneOf, type EdgeMark, type SlotRuns, type Strip } from "./marks.ts";
import { along, overlap, shortened, type Area, type Arrow, type Box, type Scene } from "./scene.ts";

export interface Shown {
  readonly scene: Scene;
  readonly counts: NodeCounts;
  readonly marks: ReadonlyMap<number, EdgeMark>;
  readonly strips: readonly Strip[];
  readonly slots: ReadonlyMap<number, SlotRuns>;
  readonly node: string | null;
  readonly transition: number | null;
  /** Nodes that a supposition would touch. */
  readonly supposed: ReadonlySet<string>;
}

/** Tokens on their way along an edge. */
export interface Move {
  readonly arrow: Arrow;
  readonly many: number;
  readonly began: number;
  /** Too many move at once to show each: the edge swells instead. */
  readonly swells: boolean;
}

export const MOVE_TIME = 550;
const TEXT_FROM = 0.42; // below this scale words cannot be read
const CURVES_FROM = 0.2;
const FONT = 'Inter, ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", sans-serif';

type Colour = (name: string) => string;

export function paint(ctx: CanvasRenderingContext2D, size: Size, ratio: number, camera: Camera, shown: Shown, moves: readonly Move[], now: number, colour: Colour): void {
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, size.width, size.height);
  ctx.setTransform(ratio * camera.scale, 0, 0, ratio * camera.scale, ratio * camera.x, ratio * camera.y);
  const view: Area = { left: -camera.x / camera.scale, top: -camera.y / camera.scale, right: (size.width - camera.x) / camera.scale, bottom: (size.height - camera.y) / camera.scale };
  paintArrows(ctx, camera, shown, view, colour);
  paintMoves(ctx, camera, moves, now, colour);
  paintBoxes(ctx, camera, shown, view, colour);
  if (camera.scale >= TEXT_FROM) {
    paintLabels(ctx, shown, view, colour);
    for (const strip of shown.strips) paintStrip(ctx, camera, shown, strip, view, colour);
  }
}

function inView(arrow: Arrow, view: Area): boolean {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [x, y] of arrow.points) {
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  return overlap({ left, top, right: right + 1, bottom: bottom + 1 }, view);
}

function trace(ctx: CanvasRenderingContext2D, arrow: Arrow, curved: boolean): void {
  const [first] = arrow.points;
  if (first === undefined) return;
  ctx.moveTo(first[0], first[1]);
  if (arrow.loop) {
    const [, b, c, d] = arrow.points;
    if (b !== undefined && c !== undefined && d !== undefined) ctx.bezierCurveTo(b[0], b[1], c[0], c[1], d[0], d[1]);
    return;
  }
  for (let at = 1; at < arrow.points.length; at += 1) {
    const [a, b] = [arrow.points[at - 1], arrow.points[at]];
    if (a === undefined || b === undefined) continue;
    const middle = (a[1] + b[1]) / 2;
    if (curved) ctx.bezierCurveTo(a[0], middle, b[0], middle, b[0], b[1]);
    else ctx.lineTo(b[0], b[1]);
  }
}

type Style = "plain" | "taken" | "refused";

function styleOf(mark: EdgeMark | undefined): Style {
  if (mark === undefined || mark.taken + mark.refused === 0) return "plain";
  return mark.taken > 0 ? "taken" : "refused";
}

function paintArrows(ctx: CanvasRenderingContext2D, camera: Camera, shown: Shown, view: Area, colour: Colour): void {
  const curved = camera.scale >= CURVES_FROM;
  const wide = 1 / Math.max(camera.scale, 0.35);
  const styles: Record<Style, { colour: string; width: number; dash: number[] }> = {
    plain: { colour: colour("line-strong"), width: 1.2 * wide, dash: [] },
    taken: { colour: colour("ink-2"), width: 1.7 * wide, dash: [] },
    refused: { colour: colour("ink-3"), width: 1.2 * wide, dash: [5, 4] },
  };
  const sorted: Record<Style, Arrow[]> = { plain: [], taken: [], refused: [] };
  for (const arrow of shown.scene.arrows) if (inView(arrow, view)) sorted[styleOf(shown.marks.get(arrow.id))].push(arrow);
  for (const style of ["plain", "refused", "taken"] as const) {
    const { colour: line, width, dash } = styles[style];
    ctx.strokeStyle = line;
    ctx.lineWidth = width;
    ctx.setLineDash(curved ? dash : []);
    ctx.beginPath();
    for (const arrow of sorted[style]) trace(ctx, arrow, curved);
    ctx.stroke();
    ctx.setLineDash([]);
    if (curved) {
      ctx.fillStyle = line;
      for (const arrow of sorted[style]) head(ctx, arrow);
    }
  }
  const chosen = shown.scene.arrows.find((arrow) => arrow.id === shown.transition);
  if (chosen !== undefined) {
    ctx.strokeStyle = colour("focus");
    ctx.lineWidth = 2.5 * wide;
    ctx.beginPath();
    trace(ctx, chosen, true);
    ctx.stroke();
  }
}

function head(ctx: CanvasRenderingContext2D, arrow: Arrow): void {
  const end = arrow.points.at(-1);
  const before = arrow.points.at(-2);
  if (end === undefined || before === undefined) return;
  const sideways = arrow.loop;
  const down = before[1] <= end[1] ? 1 : -1;
  ctx.beginPath();
  ctx.moveTo(end[0], end[1]);
  if (sideways) {
    ctx.lineTo(end[0] + 8, end[1] - 4);
    ctx.lineTo(end[0] + 8, end[1] + 4);
  } else {
    ctx.lineTo(end[0] - 4, end[1] - 8 * down);
    ctx.lineTo(end[0] + 4, end[1] - 8 * down);
  }
  ctx.fill();
}

function paintMoves(ctx: CanvasRenderingContext2D, camera: Camera, moves: readonly Move[], now: number, colour: Colour): void {
  for (const move of moves) {
    const part = Math.min(1, Math.max(0, (now - move.began) / MOVE_TIME));
    if (move.swells) {
      ctx.strokeStyle = colour("running");
      ctx.globalAlpha = 1 - part;
      ctx.lineWidth = 7 / Math.max(camera.scale, 0.35);
      ctx.beginPath();
      trace(ctx, move.arrow, true);
      ctx.stroke();
      ctx.globalAlpha = 1;
      continue;
    }
    ctx.fillStyle = colour("running");
    for (let index = 0; index < move.many; index += 1) {
      const at = part * (1 + 0.04 * move.many) - index * 0.04;
      if (at < 0 || at > 1) continue;
      const { x, y } = along(move.arrow.points, at);
      ctx.beginPath();
      ctx.arc(x, y, 4.5, 0, 2 * Math.PI);
      ctx.fill();
    }
  }
}

function paintBoxes(ctx: CanvasRenderingContext2D, camera: Camera, shown: Shown, view: Area, colour: Colour): void {
  const words = camera.scale >= TEXT_FROM;
  const least = 1.5 / camera.scale;
  ctx.textBaseline = "alphabetic";
  for (const box of shown.scene.boxes) {
    if (box.x > view.right || box.x + box.w < view.left || box.y > view.bottom || box.y + box.h < view.top) continue;
    const tone = toneOf(shown.counts[box.id]);
    if (!words) {
      ctx.fillStyle = tone === "idle" ? colour("line-strong") : colour(tone);
      ctx.fillRect(box.x, box.y, Math.max(least, box.w), Math.max(least, box.h));
      if (box.id === shown.node) ring(ctx, camera, box, colour("focus"));
      continue;
    }
    paintBox(ctx, box, tone, shown, colour);
    if (shown.supposed.has(box.id)) ring(ctx, camera, box, colour("exhausted"), [6, 4]);
    if (box.id === shown.node) ring(ctx, camera, box, colour("focus"));
  }
}

function ring(ctx: CanvasRenderingContext2D, camera: Camera, box: Box, line: string, dash: number[] = []): void {
  const gap = 3 / camera.scale;
  ctx.strokeStyle = line;
  ctx.lineWidth = 2 / camera.scale;
  ctx.setLineDash(dash);
  ctx.beginPath();
  ctx.roundRect(box.x - gap, box.y - gap, box.w + 2 * gap, box.h + 2 * gap, 8 + gap);
  ctx.stroke();
  ctx.setLineDash([]);
}

function paintBox(ctx: CanvasRenderingContext2D, box: Box, tone: Look, shown: Shown, colour: Colour): void {
  const idle = tone === "idle";
  ctx.beginPath();
  ctx.roundRect(box.x, box.y, box.w, box.h, 8);
  ctx.fillStyle = colour("surface");
  ctx.fill();
  if (!idle) {
    ctx.fillStyle = colour(`${tone}-soft`);
    ctx.fill();
  }
  ctx.strokeStyle = idle ? colour("line-strong") : colour(tone);
  ctx.lineWidth = box.initial ? 2 : 1.2;
  ctx.stroke();
  const x = box.x + box.w / 2;
  ctx.textAlign = "center";
  ctx.fillStyle = idle ? colour("ink-2") : colour("ink");
  ctx.font = `600 12.5px ${FONT}`;
  ctx.fillText(shortened(box.id), x, box.y + 20, box.w - 10);
  const detail = box.detail === "" ? (box.kind === "pass" ? "" : box.kind) : `${box.kind}: ${box.detail}`;
  if (detail !== "") {
    ctx.fillStyle = colour("ink-3");
    ctx.font = `11px ${FONT}`;
    ctx.fillText(shortened(detail), x, box.y + 36, box.w - 10);
  }
  paintCounts(ctx, box, shown, colour);
}

function compact(value: number): string {
  if (value < 10_000) return count(value);
  return value < 1_000_000 ? `${String(Math.floor(value / 1_000))}k` : `${(value / 1_000_000).toFixed(1)}M`;
}

function paintCounts(ctx: CanvasRenderingContext2D, box: Box, shown: Shown, colour: Colour): void {
  const counts = shown.counts[box.id] ?? NONE;
  const parts = PLACES.filter((place) => counts[place] > 0).map((place) => ({ text: `${GLYPHS[place]} ${compact(counts[place])}`, look: LOOK_OF[place] }));
  const y = box.y + box.h - 9;
  ctx.font = `600 11px ${FONT}`;
  if (parts.length === 0) {
    ctx.font = `11px ${FONT}`;
    ctx.fillStyle = colour("ink-3");
    ctx.fillText("idle", box.x + box.w / 2, y);
    return;
  }
  const widths = parts.map((part) => ctx.measureText(part.text).width);
  const total = widths.reduce((sum, width) => sum + width, 0) + 8 * (parts.length - 1);
  let x = box.x + box.w / 2 - total / 2;
  ctx.textAlign = "left";
  for (const [index, part] of parts.entries()) {
    ctx.fillStyle = colour(part.look);
    ctx.fillText(part.text, x, y);
    x += (widths[index] ?? 0) + 8;
  }
  ctx.textAlign = "center";
}

function paintLabels(ctx: CanvasRenderingContext2D, shown: Shown, view: Area, colour: Colour): void {
  ctx.font = `11px ${FONT}`;
  ctx.textAlign = "center";
  for (const arrow of shown.scene.arrows) {
    const mark = shown.marks.get(arrow.id);
    const said = mark?.loop ?? (mark !== undefined && mark.taken === 0 ? mark.verdict : null);
    const text = [arrow.label, said].filter(Boolean).join(" · ");
    if (text === "") continue;
    const { x, y } = arrow.place;
    if (x < view.left - 120 || x > view.right + 120 || y < view.top - 20 || y > view.bottom + 20) continue;
    const shownText = shortened(text, 44);
    const width = ctx.measureText(shownText).width + 10;
    ctx.fillStyle = colour("ground");
    ctx.globalAlpha = 0.9;
    ctx.beginPath();
    ctx.roundRect(x - width / 2, y - 8, width, 16, 5);
    ctx.fill();
    ctx.globalAlpha = 1;
    ctx.fillStyle = colour(mark !== undefined && mark.taken === 0 && mark.refused > 0 ? "ink-3" : "ink-2");
    ctx.fillText(shownText, x, y + 4);
  }
}

export const STRIP_GAP = 4;
export const STRIP_HEIGHT = 9;

export function stripWidth(box: Box): number {
  return Math.max(box.w, 120);
}

function paintStrip(ctx: CanvasRenderingContext2D, camera: Camera, shown: Shown, strip: Strip, view: Area, colour: Colour): void {
  const box = shown.scene.byName.get(strip.node);
  if (box === undefined) return;
  const width = stripWidth(box);
  const [x, y] = [box.x + box.w / 2 - width / 2, box.y + box.h + STRIP_GAP];
  if (!overlap({ left: x, top: y, right: x + width, bottom: y + STRIP_HEIGHT }, view)) return;
  const { group } = strip;
  ctx.fillStyle = colour("ground");
  ctx.fillRect(x - 2, y - 2, width + 4, STRIP_HEIGHT + 4);
  const runs = shown.slots.get(group.id);
  const bins = Math.min(group.total, Math.max(1, Math.floor(width * Math.min(2, camera.scale))));
  const cells = runs === undefined ? proportions(group, bins) : binned(runs, group.total, bins).map((status) => SLOT_LOOKS[status]);
  const cell = width / Math.max(1, bins);
  const gap = cell > 5 ? 1 : 0;
  for (let bin = 0; bin < bins; ) {
    let end = bin + 1;
    while (gap === 0 && end < bins && cells[end] === cells[bin]) end += 1;
    const look = cells[bin] ?? "idle";
    ctx.fillStyle = look === "idle" ? colour("line-strong") : colour(look);
    ctx.fillRect(x + bin * cell, y, (end - bin) * cell - gap, STRIP_HEIGHT);
    bin = end;
  }
}

/** A strip while its slots are not known: how many of each, not where. */
function proportions(group: Strip["group"], bins: number): Look[] {
  const part = (many: number): number => Math.round((many / Math.max(1, group.total)) * bins);
  const cells: Look[] = [];
  for (const [look, many] of [["completed", group.arrived], ["failed", group.lost], ["running", group.live]] as const) cells.push(...new Array<Look>(part(many)).fill(look));
  while (cells.length < bins) cells.push("idle");
  return cells.slice(0, bins);
}
