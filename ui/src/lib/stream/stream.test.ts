import { describe, expect, it } from "vitest";

import { EventStream, type Frame, type StreamEvent, type StreamState, type Surroundings } from "./stream.ts";

/** A socket whose other end the test holds. */
class Held {
  onmessage: ((message: MessageEvent<string>) => void) | null = null;
  onclose: ((event: CloseEvent) => void) | null = null;
  constructor(readonly address: string) {}
  close(): void {
    this.onclose = null;
  }
  send(frame: Frame): void {
    this.onmessage?.({ data: JSON.stringify(frame) } as MessageEvent<string>);
  }
  drop(code = 1006): void {
    this.onclose?.({ code } as CloseEvent);
  }
}

function world(): { around: Surroundings; sockets: Held[]; draw: () => void; elapse: () => void; hide: (yes: boolean) => void } {
  const sockets: Held[] = [];
  let pictures: (() => void)[] = [];
  let timers: { act: () => void; at: number }[] = [];
  let hidden = false;
  let shown: () => void = () => undefined;
  const draw = (): void => {
    const due = pictures;
    pictures = [];
    for (const act of due) act();
  };
  return {
    sockets,
    draw,
    elapse: () => {
      timers.sort((a, b) => a.at - b.at);
      timers.shift()?.act();
    },
    hide: (yes) => {
      hidden = yes;
      if (!yes) {
        shown();
        draw();
      }
    },
    around: {
      open: (address) => {
        const socket = new Held(address);
        sockets.push(socket);
        return socket as unknown as WebSocket;
      },
      nextPicture: (act) => pictures.push(act),
      later: (act, at) => {
        const timer = { act, at };
        timers.push(timer);
        return () => {
          timers = timers.filter((each) => each !== timer);
        };
      },
      now: () => 1000,
      hidden: () => hidden,
      whenShown: (act) => {
        shown = act;
        return () => undefined;
      },
      chance: () => 1,
    },
  };
}

const hello: Frame = { kind: "hello", after: "5", head: "9", server: "s", heartbeat_ms: 15_000 };
const event = (pos: string): Frame => ({ kind: "event", pos, event: { run_id: "r", at: "", type: `t${pos}` } });

function opened(options = {}): ReturnType<typeof world> & { got: string[]; states: StreamState[]; gaps: number[]; stream: EventStream } {
  const made = world();
  const got: string[] = [];
  const states: StreamState[] = [];
  const gaps: number[] = [];
  const stream = new EventStream(
    options,
    {
      events: (events: readonly StreamEvent[]) => got.push(...events.map((each) => each.type)),
      state: (state) => states.push(state),
      gap: () => gaps.push(1),
    },
    made.around,
  );
  return { ...made, got, states, gaps, stream };
}

describe("a stream", () => {
  it("gives what came since the last picture in order, once", () => {
    const { sockets, draw, got, states } = opened({ after: "head" });
    sockets[0]?.send(hello);
    sockets[0]?.send(event("6"));
    sockets[0]?.send(event("7"));
    expect(got).toEqual([]);
    draw();
    draw();
    expect(got).toEqual(["t6", "t7"]);
    expect(states).toEqual([{ kind: "live" }]);
  });

  it("resumes behind the last event after the connection was lost, and says since when it is away", () => {
    const { sockets, draw, elapse, got, states } = opened({ run: "abc" });
    sockets[0]?.send(hello);
    sockets[0]?.send(event("6"));
    sockets[0]?.drop();
    elapse();
    expect(sockets[1]?.address).toBe("/v1/stream?run=abc&after=6");
    sockets[1]?.send(hello);
    sockets[1]?.send(event("7"));
    sockets[0]?.send(event("66")); // what comes late from a socket that was given up counts for nothing
    draw();
    expect(got).toEqual(["t6", "t7"]);
    expect(states).toEqual([{ kind: "live" }, { kind: "away", since: 1000 }, { kind: "live" }]);
  });

  it("takes silence for a lost connection", () => {
    const { sockets, elapse, states } = opened();
    sockets[0]?.send(hello);
    elapse();
    expect(states.at(-1)).toEqual({ kind: "away", since: 1000 });
  });

  it("starts at the head and tells of the gap when the history is pruned", () => {
    const { sockets, elapse, gaps } = opened({ after: "3" });
    sockets[0]?.send(hello);
    sockets[0]?.drop(4410);
    elapse();
    expect(gaps).toEqual([1]);
    expect(sockets[1]?.address).toBe("/v1/stream?after=head");
  });

  it("stays away once the key was revoked, and ends with its run", () => {
    const revoked = opened();
    revoked.sockets[0]?.drop(4401);
    revoked.elapse();
    expect(revoked.sockets).toHaveLength(1);
    const ended = opened({ run: "r" });
    ended.sockets[0]?.send(hello);
    ended.sockets[0]?.send({ kind: "end", pos: "9", run_id: "r", status: "completed" });
    ended.sockets[0]?.drop(1000);
    ended.elapse();
    expect(ended.sockets).toHaveLength(1);
    expect(ended.states.at(-1)).toEqual({ kind: "ended", status: "completed" });
  });

  it("lets go of the socket when the tab is hidden for long, and resumes when it is seen", () => {
    const { sockets, hide, got } = opened();
    sockets[0]?.send(hello);
    hide(true);
    for (let pos = 1; pos <= 2000; pos += 1) sockets[0]?.send(event(String(pos)));
    sockets[0]?.send(event("2001"));
    hide(false);
    expect(sockets[1]?.address).toBe("/v1/stream?after=2000");
    expect(got).toHaveLength(2000);
  });
});
