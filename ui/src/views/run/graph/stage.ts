/** Moves the camera over a scene, draws it when it must be drawn, and says what is in view. */
import { colour } from "../../../lib/theme.ts";
import { fitted, held, showing, zoomed, type Camera, type Size } from "./camera.ts";
import type { Strip } from "./marks.ts";
import { MOVE_TIME, paint, type Move, type Shown } from "./paint.ts";
import { NONE, type Counts } from "../store/journal.ts";
import type { Arrow, Box, Scene } from "./scene.ts";

export interface Seen {
  readonly boxes: readonly Box[];
  readonly arrows: readonly Arrow[];
  readonly strips: readonly Strip[];
}

const MOST_BOXES = 120;
const MOST_ARROWS = 120;
const MOST_STRIPS = 20;
const READABLE = 0.7;
const LEGIBLE = 0.25; // below this scale a whole picture says little
const REST = 60;
const THRESHOLD = 4; // pixels before a press is a drag
const MOST_MOVES = 50;

interface Point {
  readonly x: number;
  readonly y: number;
}

export class GraphStage {
  readonly #place: HTMLElement;
  readonly #canvas: HTMLCanvasElement;
  readonly #layer: HTMLElement;
  readonly #tell: (seen: Seen) => void;
  readonly #watcher: ResizeObserver;
  readonly #stop = new AbortController();
  #shown: Shown | null = null;
  #camera: Camera = { x: 0, y: 0, scale: 1 };
  #size: Size = { width: 0, height: 0 };
  #moves: Move[] = [];
  #pointers = new Map<number, Point>();
  #pressed: Point | null = null;
  #frame = 0;
  #resting: ReturnType<typeof setTimeout> | undefined;
  #touched = false; // the camera was moved by hand: a new size does not fit the picture again
  #told = "";
  /** Whether the press that ends now was a drag. */
  dragged = false;

  constructor(place: HTMLElement, canvas: HTMLCanvasElement, layer: HTMLElement, tell: (seen: Seen) => void) {
    this.#place = place;
    this.#canvas = canvas;
    this.#layer = layer;
    this.#tell = tell;
    this.#watcher = new ResizeObserver(() => this.#resize());
    this.#watcher.observe(place);
    const { signal } = this.#stop;
    place.addEventListener("pointerdown", (event) => this.#down(event), { signal });
    place.addEventListener("pointermove", (event) => this.#move(event), { signal });
    for (const type of ["pointerup", "pointercancel"] as const) place.addEventListener(type, (event) => this.#up(event), { signal });
    place.addEventListener("wheel", (event) => this.#wheel(event), { signal, passive: false });
    place.addEventListener("scroll", () => { place.scrollTop = 0; place.scrollLeft = 0; }, { signal }); // focus does not move what the camera moves
    document.addEventListener("visibilitychange", () => this.draw(), { signal });
    this.#resize();
  }

  close(): void {
    this.#stop.abort();
    this.#watcher.disconnect();
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#resting);
  }

  show(shown: Shown): void {
    const before = this.#shown;
    this.#shown = shown;
    if (before?.scene !== shown.scene) {
      this.#touched = false;
      this.#told = "";
      this.#setCamera(this.#first(shown));
    } else {
      this.#animate(before, shown);
    }
    this.draw();
    this.#settle(0);
  }

  /** What is seen at first: the whole, or of a picture too large for that, where something is under way. */
  #first(shown: Shown): Camera {
    const whole = fitted(shown.scene, this.#size);
    if (whole.scale >= LEGIBLE || this.#size.width === 0) return whole;
    const { boxes } = shown.scene;
    const busy = (box: Box): boolean => (shown.counts[box.id] ?? NONE).active + (shown.counts[box.id] ?? NONE).waiting > 0;
    const box = boxes.find((each) => each.id === shown.node) ?? boxes.find(busy) ?? boxes.find((each) => each.initial) ?? boxes[0];
    return box === undefined ? whole : showing(whole, box, this.#size, READABLE);
  }

  fit(): void {
    if (this.#shown === null) return;
    this.#touched = fitted(this.#shown.scene, this.#size).scale < LEGIBLE;
    this.#setCamera(fitted(this.#shown.scene, this.#size));
  }

  zoom(by: number, at: Point = { x: this.#size.width / 2, y: this.#size.height / 2 }): void {
    if (this.#shown === null) return;
    this.#touched = true;
    this.#setCamera(zoomed(this.#camera, by, at, fitted(this.#shown.scene, this.#size).scale));
  }

  /** Bring a node into view. */
  reveal(node: string, soon = false): void {
    const box = this.#shown?.scene.byName.get(node);
    if (box === undefined || this.#size.width === 0) return;
    const small = this.#shown !== null && this.#shown.scene.boxes.length <= MOST_BOXES;
    const next = showing(this.#camera, box, this.#size, small ? Math.min(this.#camera.scale, READABLE) : READABLE);
    if (next !== this.#camera) {
      this.#touched = true;
      this.#setCamera(next);
    }
    if (soon) this.#settle(0);
  }

  draw(): void {
    if (this.#frame !== 0 || this.#stop.signal.aborted) return;
    this.#frame = requestAnimationFrame((now) => {
      this.#frame = 0;
      this.#draw(now);
    });
  }

  #draw(now: number): void {
    const context = this.#canvas.getContext("2d");
    if (context === null || this.#shown === null || this.#size.width === 0) return;
    this.#moves = this.#moves.filter((move) => now - move.began < MOVE_TIME);
    paint(context, this.#size, window.devicePixelRatio, this.#camera, this.#shown, this.#moves, now, colour);
    if (this.#moves.length > 0) this.draw();
  }

  /** Tokens run along the edges that they seem to have taken: from nodes with more done to nodes with more tokens. */
  #animate(before: Shown, after: Shown): void {
    if (before.counts === after.counts || document.hidden || window.matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const came = (node: string): number => present(after.counts[node]) - present(before.counts[node]);
    const left = (node: string): number => (after.counts[node] ?? NONE).done - (before.counts[node] ?? NONE).done;
    const found: { arrow: Arrow; many: number }[] = [];
    for (const arrow of after.scene.arrows) {
      const many = Math.min(Math.max(came(arrow.to), 0), arrow.fansOut ? Infinity : Math.max(left(arrow.from), 0));
      if (many > 0 && left(arrow.from) > 0) found.push({ arrow, many });
    }
    const swells = found.reduce((sum, each) => sum + each.many, 0) > MOST_MOVES;
    const began = performance.now();
    this.#moves = [...this.#moves, ...found.slice(0, 200).map((each) => ({ ...each, began, swells }))];
  }

  #setCamera(next: Camera): void {
    if (this.#shown === null) return;
    this.#camera = held(next, this.#shown.scene, this.#size);
    const { x, y, scale } = this.#camera;
    this.#layer.style.transform = `translate(${x.toFixed(2)}px, ${y.toFixed(2)}px) scale(${scale.toFixed(5)})`;
    this.#layer.style.setProperty("--inverse", String(1 / scale));
    this.draw();
    this.#settle(REST);
  }

  #resize(): void {
    const { clientWidth: width, clientHeight: height } = this.#place;
    if (width === 0 || height === 0) return;
    this.#size = { width, height };
    const ratio = window.devicePixelRatio;
    this.#canvas.width = Math.round(width * ratio);
    this.#canvas.height = Math.round(height * ratio);
    if (this.#shown === null) return;
    this.#setCamera(this.#touched ? this.#camera : this.#first(this.#shown));
    if (this.#shown.node !== null) this.reveal(this.#shown.node);
  }

  /** Once the camera rests: which boxes are real buttons. */
  #settle(after: number): void {
    clearTimeout(this.#resting);
    const look = (): void => {
      if (this.#shown === null || this.#stop.signal.aborted || this.#size.width === 0) return;
      const seen = this.#seen(this.#shown);
      const key = [seen.boxes.map((box) => box.id).join("\0"), seen.arrows.map((arrow) => arrow.id).join(), seen.strips.map((strip) => `${String(strip.group.id)}:${String(strip.group.arrived)}:${String(strip.group.live)}:${String(strip.group.lost)}`).join()].join("\n");
      if (key === this.#told) return;
      this.#told = key;
      this.#tell(seen);
    };
    if (after === 0) look();
    else this.#resting = setTimeout(look, after);
  }

  #seen(shown: Shown): Seen {
    const { scene } = shown;
    const { x, y, scale } = this.#camera;
    const [left, top] = [-x / scale, -y / scale];
    const [right, bottom] = [left + this.#size.width / scale, top + this.#size.height / scale];
    const middle = { x: (left + right) / 2, y: (top + bottom) / 2 };
    let boxes = scene.boxes.filter((box) => box.x < right && box.x + box.w > left && box.y < bottom && box.y + box.h > top);
    if (boxes.length > MOST_BOXES) boxes = nearest(boxes, shown, middle);
    const focused = document.activeElement instanceof HTMLElement && this.#layer.contains(document.activeElement) ? document.activeElement.dataset["node"] : undefined;
    for (const wanted of [shown.node, focused]) {
      const box = wanted === null || wanted === undefined ? undefined : scene.byName.get(wanted);
      if (box !== undefined && !boxes.includes(box)) boxes = [...boxes.slice(0, MOST_BOXES - 1), box];
    }
    const names = new Set(boxes.map((box) => box.id));
    const arrows = scene.arrows.filter((arrow) => arrow.id === shown.transition || (names.has(arrow.from) && names.has(arrow.to) && arrow.place.x < right && arrow.place.x > left && arrow.place.y < bottom && arrow.place.y > top));
    const strips = shown.strips.filter((strip) => names.has(strip.node)).slice(0, MOST_STRIPS);
    // in the order of the picture, so that Tab reads it from above
    return { boxes: boxes.toSorted((a, b) => a.y - b.y || a.x - b.x), arrows: arrows.slice(0, MOST_ARROWS), strips };
  }

  #at(event: { clientX: number; clientY: number }): Point {
    const box = this.#place.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  #down(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.#pointers.set(event.pointerId, this.#at(event));
    this.#pressed = this.#at(event);
    this.dragged = false;
  }

  #move(event: PointerEvent): void {
    const before = this.#pointers.get(event.pointerId);
    if (before === undefined) return;
    const now = this.#at(event);
    const others = [...this.#pointers].filter(([id]) => id !== event.pointerId).map(([, point]) => point);
    if (!this.dragged && this.#pressed !== null && others.length === 0 && Math.hypot(now.x - this.#pressed.x, now.y - this.#pressed.y) < THRESHOLD) return;
    if (!this.dragged) {
      this.dragged = true;
      this.#place.setPointerCapture(event.pointerId);
      this.#place.classList.add("dragging");
    }
    this.#pointers.set(event.pointerId, now);
    this.#touched = true;
    const [other] = others;
    if (other === undefined) {
      this.#setCamera({ ...this.#camera, x: this.#camera.x + now.x - before.x, y: this.#camera.y + now.y - before.y });
    } else {
      const by = Math.hypot(now.x - other.x, now.y - other.y) / Math.max(1, Math.hypot(before.x - other.x, before.y - other.y));
      this.zoom(by, { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 });
    }
  }

  #up(event: PointerEvent): void {
    this.#pointers.delete(event.pointerId);
    if (this.#pointers.size > 0) return;
    this.#pressed = null;
    this.#place.classList.remove("dragging");
    setTimeout(() => { this.dragged = false; }, 0); // the click of this press comes first
  }

  #wheel(event: WheelEvent): void {
    if (this.#shown === null) return;
    event.preventDefault();
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    if (event.ctrlKey || event.metaKey || Math.abs(event.deltaY) >= 50) {
      this.zoom(Math.exp(-event.deltaY * unit * (event.ctrlKey ? 0.01 : 0.0016)), this.#at(event));
      return;
    }
    this.#touched = true;
    this.#setCamera({ ...this.#camera, x: this.#camera.x - event.deltaX * unit, y: this.#camera.y - event.deltaY * unit });
  }
}

function present(counts: Counts = NONE): number {
  return counts.active + counts.waiting + counts.done + counts.failed + counts.stopped;
}

/** The boxes that matter most: those with something under way, then those nearest to the middle. */
function nearest(boxes: readonly Box[], shown: Shown, middle: Point): Box[] {
  const rank = (box: Box): number => {
    const counts = shown.counts[box.id] ?? NONE;
    const busy = counts.active + counts.waiting + counts.failed > 0 ? 0 : 1e9;
    return busy + Math.hypot(box.x + box.w / 2 - middle.x, box.y + box.h / 2 - middle.y);
  };
  return boxes.map((box) => ({ box, rank: rank(box) })).sort((a, b) => a.rank - b.rank).slice(0, MOST_BOXES).map((each) => each.box);
}

export type { Scene };
