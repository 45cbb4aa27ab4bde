/** One stream of events by WebSocket: resumes by position, reconnects with growing pauses, rests in the background. */
import { backoff } from "./backoff.ts";

export interface StreamEvent {
  readonly run_id: string;
  readonly seq?: number;
  readonly at: string;
  readonly type: string;
  readonly [field: string]: unknown;
}

export type Frame =
  | { kind: "hello"; after: string; head: string; server: string; heartbeat_ms: number }
  | { kind: "event"; pos: string; event: StreamEvent }
  | { kind: "caught_up"; pos: string }
  | { kind: "delta"; conversation_id: string; turn: number; move: number; index: number; text: string }
  | { kind: "heartbeat"; pos: string; at: string }
  | { kind: "end"; pos: string; run_id: string; status: string }
  | { kind: "bye"; code: string; problem: string; remedy: string; after: string };
export type Delta = Extract<Frame, { kind: "delta" }>;

/** `live`: events come as they are committed. `away`: they do not, since `since`; what is shown is as of then. */
export type StreamState =
  | { readonly kind: "connecting" }
  | { readonly kind: "live" }
  | { readonly kind: "away"; readonly since: number }
  | { readonly kind: "ended"; readonly status: string };

export interface Listener {
  /** Events in order, each once; many in one call when many came since the last picture was drawn. */
  events?(events: readonly StreamEvent[]): void;
  deltas?(deltas: readonly Delta[]): void;
  state?(state: StreamState): void;
  /** The history between was removed: read the state again; events go on from now. */
  gap?(): void;
}

export interface StreamOptions {
  readonly run?: string;
  readonly conversation?: string;
  /** A position, a sequence number of the run, or `head` for new events only. */
  readonly after?: string;
  readonly trace?: boolean;
}

/** What the stream needs of the browser; tests give their own. */
export interface Surroundings {
  open(address: string): WebSocket;
  /** Call back before the next picture is drawn: never while the tab is in the background. */
  nextPicture(act: () => void): void;
  later(act: () => void, milliseconds: number): () => void;
  now(): number;
  hidden(): boolean;
  whenShown(act: () => void): () => void;
  chance(): number;
}

const SIGNED_OUT = 4401;
const PRUNED = 4410;
const SILENCE = 2.5; // heartbeats that may be missed, nearly
const MOST_HELD = 2_000; // frames kept for a tab in the background before its socket is closed

export class EventStream {
  #options: StreamOptions;
  #listener: Listener;
  #around: Surroundings;
  #socket: WebSocket | null = null;
  #after: string | undefined;
  #state: StreamState = { kind: "connecting" };
  #events: StreamEvent[] = [];
  #deltas: Delta[] = [];
  #scheduled = false;
  #failures = 0;
  #closed = false;
  #resting = false;
  #cancelRetry: () => void = () => undefined;
  #cancelWatch: () => void = () => undefined;
  #stopWatching: () => void;
  #heartbeat = 15_000;

  constructor(options: StreamOptions, listener: Listener, around: Surroundings) {
    this.#options = options;
    this.#after = options.after;
    this.#listener = listener;
    this.#around = around;
    this.#stopWatching = around.whenShown(() => this.#shown());
    this.#connect();
  }

  get state(): StreamState {
    return this.#state;
  }

  /** The position behind the last event that was given. */
  get position(): string | undefined {
    return this.#after;
  }

  /** Connect now, whatever pause was meant. */
  retry(): void {
    if (this.#socket !== null || this.#closed || this.#state.kind === "ended") return;
    this.#cancelRetry();
    this.#connect();
  }

  close(): void {
    this.#closed = true;
    this.#stopWatching();
    this.#cancelRetry();
    this.#drop();
  }

  #connect(): void {
    this.#resting = false;
    const query = new URLSearchParams();
    if (this.#options.run !== undefined) query.set("run", this.#options.run);
    if (this.#options.conversation !== undefined) query.set("conversation", this.#options.conversation);
    if (this.#options.trace === true) query.set("trace", "1");
    if (this.#after !== undefined) query.set("after", this.#after);
    const text = query.toString();
    const socket = this.#around.open(`/v1/stream${text === "" ? "" : `?${text}`}`);
    this.#socket = socket;
    socket.onmessage = (message: MessageEvent<string>) => {
      if (socket === this.#socket) this.#take(JSON.parse(message.data) as Frame);
    };
    socket.onclose = (event: CloseEvent) => {
      if (socket === this.#socket) this.#lost(event.code);
    };
    this.#watch();
  }

  #take(frame: Frame): void {
    this.#watch();
    switch (frame.kind) {
      case "hello":
        this.#failures = 0;
        this.#heartbeat = frame.heartbeat_ms;
        if (this.#after === undefined || this.#after === "head") this.#after = frame.after;
        this.#become({ kind: "live" });
        return;
      case "event":
        this.#after = frame.pos;
        this.#events.push(frame.event);
        this.#schedule();
        return;
      case "delta":
        this.#deltas.push(frame);
        this.#schedule();
        return;
      case "caught_up":
      case "heartbeat":
        this.#after = frame.pos;
        return;
      case "end":
        this.#after = frame.pos;
        this.#become({ kind: "ended", status: frame.status });
        return;
      case "bye":
        this.#after = frame.after;
        return;
    }
  }

  #schedule(): void {
    if (this.#around.hidden() && this.#events.length + this.#deltas.length >= MOST_HELD) {
      // nobody looks: what is missed is read when somebody does, for what it then costs
      this.#resting = true;
      this.#drop();
      return;
    }
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#around.nextPicture(() => {
      this.#scheduled = false;
      this.#deliver();
    });
  }

  #deliver(): void {
    const events = this.#events;
    const deltas = this.#deltas;
    this.#events = [];
    this.#deltas = [];
    if (this.#closed) return;
    if (events.length > 0) this.#listener.events?.(events);
    if (deltas.length > 0) this.#listener.deltas?.(deltas);
  }

  #lost(code: number): void {
    this.#drop();
    if (this.#closed || this.#state.kind === "ended") return;
    if (code === PRUNED) {
      this.#after = "head";
      this.#listener.gap?.();
    }
    if (this.#state.kind !== "away") this.#become({ kind: "away", since: this.#around.now() });
    if (code === SIGNED_OUT) return;
    const pause = backoff(this.#failures, this.#around.chance());
    this.#failures += 1;
    this.#cancelRetry = this.#around.later(() => this.#connect(), pause);
  }

  #drop(): void {
    this.#cancelWatch();
    const socket = this.#socket;
    this.#socket = null;
    if (socket !== null) {
      socket.onmessage = null;
      socket.onclose = null;
      socket.close();
    }
  }

  /** A server that is gone without a word, or a laptop that slept: no heartbeat comes. */
  #watch(): void {
    this.#cancelWatch();
    this.#cancelWatch = this.#around.later(() => this.#lost(0), this.#heartbeat * SILENCE);
  }

  #shown(): void {
    if (this.#resting) this.#connect();
    else this.retry();
  }

  #become(state: StreamState): void {
    this.#state = state;
    this.#listener.state?.(state);
  }
}
