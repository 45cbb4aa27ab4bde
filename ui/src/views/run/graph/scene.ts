/** The picture of a definition as it is drawn: the server's layout, with room for counts, and a place for each label. */
import type { Schemas } from "../../../lib/api/client.ts";

export type GraphView = Schemas["GraphView"];

export interface Box {
  readonly id: string;
  readonly kind: string;
  readonly detail: string;
  readonly initial: boolean;
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

export interface Arrow {
  readonly id: number;
  readonly from: string;
  readonly to: string;
  readonly label: string;
  readonly labels: readonly string[];
  readonly fansOut: boolean;
  readonly joins: boolean;
  readonly points: readonly (readonly [number, number])[];
  readonly loop: boolean;
  /** Where its label and its button are: the middle. */
  readonly place: { readonly x: number; readonly y: number; readonly w: number };
}

export interface Scene {
  readonly boxes: readonly Box[];
  readonly arrows: readonly Arrow[];
  readonly byName: ReadonlyMap<string, Box>;
  readonly out: ReadonlyMap<string, readonly Arrow[]>;
  readonly into: ReadonlyMap<string, readonly Arrow[]>;
  readonly width: number;
  readonly height: number;
}

export interface Area {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

const COUNTS = 18; // the line of counts that boxes of a run have
const LEAST = 88;
const MOST_LABEL = 34;
const CHARACTER = 5.9;
const LABEL_HEIGHT = 16;
const TRY_LABELS = 400; // in larger graphs labels lie in the middle, whatever is there

/** A text that is at most so long. */
export function shortened(text: string, most = MOST_LABEL): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

export function sceneOf(view: GraphView): Scene {
  const boxes = view.nodes.map((node): Box => {
    const wider = Math.max(0, LEAST - node.w);
    return { id: node.id, kind: node.kind, detail: node.detail, initial: node.initial, x: node.x - wider / 2, y: node.y, w: node.w + wider, h: node.h + COUNTS };
  });
  const byName = new Map(boxes.map((box) => [box.id, box]));
  const out = new Map<string, Arrow[]>();
  const into = new Map<string, Arrow[]>();
  const taken: Area[] = boxes.length <= TRY_LABELS ? boxes.map((box) => ({ left: box.x, top: box.y, right: box.x + box.w, bottom: box.y + box.h })) : [];
  const arrows = view.edges.map((edge): Arrow => {
    const loop = edge.from === edge.to;
    const points = anchored(edge.points, byName.get(edge.from), byName.get(edge.to), loop);
    const label = shortened(edge.labels.map((each) => each.split(/\s+/).join(" ")).join("; "));
    const place = free(points, loop, label, boxes.length <= TRY_LABELS ? taken : null);
    const arrow = { id: edge.id, from: edge.from, to: edge.to, label, labels: edge.labels, fansOut: edge.fans_out, joins: edge.joins, points, loop, place };
    out.set(edge.from, [...(out.get(edge.from) ?? []), arrow]);
    into.set(edge.to, [...(into.get(edge.to) ?? []), arrow]);
    return arrow;
  });
  return { boxes, arrows, byName, out, into, width: view.width, height: view.height + COUNTS };
}

/** The points with those at the lower border of a box moved down with it. */
function anchored(points: GraphView["edges"][number]["points"], from: Box | undefined, to: Box | undefined, loop: boolean): [number, number][] {
  const moved = points.map(([x, y]): [number, number] => [x, y]);
  const [first, last] = [moved[0], moved.at(-1)];
  if (loop || first === undefined || last === undefined || from === undefined || to === undefined) return moved;
  if (first[1] > from.y + 1) first[1] = from.y + from.h;
  if (last[1] > to.y + 1) last[1] = to.y + to.h;
  return moved;
}

/** A point of the curve through some points: `part` is 0 to 1 along it. */
export function along(points: readonly (readonly [number, number])[], part: number): { x: number; y: number } {
  const pieces = points.length - 1;
  const at = Math.min(pieces - 1, Math.floor(part * pieces));
  const [a, b] = [points[at], points[at + 1]];
  if (a === undefined || b === undefined) return { x: points[0]?.[0] ?? 0, y: points[0]?.[1] ?? 0 };
  const t = part * pieces - at;
  const ease = 3 * t * t - 2 * t * t * t; // the curve leaves and enters upright
  const middle = (a[1] + b[1]) / 2;
  const y = (1 - t) ** 3 * a[1] + 3 * (1 - t) ** 2 * t * middle + 3 * (1 - t) * t * t * middle + t ** 3 * b[1];
  return { x: a[0] + (b[0] - a[0]) * ease, y };
}

function free(points: readonly (readonly [number, number])[], loop: boolean, label: string, taken: Area[] | null): Arrow["place"] {
  const w = label === "" ? 18 : label.length * CHARACTER + 12;
  if (loop) return { x: (points[1]?.[0] ?? 0) + w / 2 - 4, y: ((points[0]?.[1] ?? 0) + (points.at(-1)?.[1] ?? 0)) / 2, w };
  const area = (x: number, y: number): Area => ({ left: x - w / 2, top: y - LABEL_HEIGHT / 2, right: x + w / 2, bottom: y + LABEL_HEIGHT / 2 });
  let found = along(points, 0.5);
  if (taken !== null) {
    for (const part of [0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78]) {
      const place = along(points, part);
      if (!taken.some((other) => overlap(area(place.x, place.y), other))) {
        found = place;
        break;
      }
    }
    taken.push(area(found.x, found.y));
  }
  return { ...found, w };
}

export function overlap(one: Area, other: Area): boolean {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}

/** The node that an arrow key leads to: along an edge that goes that way, else the nearest in the same row. */
export function neighbour(scene: Scene, from: string, key: string): string | null {
  const here = scene.byName.get(from);
  if (here === undefined) return null;
  const middle = (box: Box): [number, number] => [box.x + box.w / 2, box.y + box.h / 2];
  const [x, y] = middle(here);
  const way: Readonly<Record<string, readonly [number, number]>> = { ArrowDown: [0, 1], ArrowUp: [0, -1], ArrowRight: [1, 0], ArrowLeft: [-1, 0] };
  const [dx, dy] = way[key] ?? [0, 0];
  if (dx === 0 && dy === 0) return null;
  const joined = new Set([...(scene.out.get(from) ?? []).map((arrow) => arrow.to), ...(scene.into.get(from) ?? []).map((arrow) => arrow.from)]);
  const score = (box: Box, row: boolean): number => {
    const [bx, by] = middle(box);
    const ahead = (bx - x) * dx + (by - y) * dy;
    const aside = Math.abs((bx - x) * dy) + Math.abs((by - y) * dx);
    if (ahead <= 1 || (row ? aside > here.h : dx !== 0 && aside > 3 * ahead)) return Infinity;
    return ahead + aside * (row ? 4 : 0.5);
  };
  const best = (boxes: Iterable<Box>, row: boolean): string | null => {
    let found: string | null = null;
    let least = Infinity;
    for (const box of boxes) {
      const value = box.id === from ? Infinity : score(box, row);
      if (value < least) [found, least] = [box.id, value];
    }
    return found;
  };
  const neighbours = [...joined].flatMap((name) => scene.byName.get(name) ?? []);
  return best(neighbours, false) ?? (dx === 0 ? null : best(scene.boxes, true));
}
