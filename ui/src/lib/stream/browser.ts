/** Streams of this browser: `openStream({ run: ID, after: "head" }, { events: … })`. */
import { EventStream, type Listener, type StreamOptions, type Surroundings } from "./stream.ts";

const browser: Surroundings = {
  open: (address) => new WebSocket(address),
  nextPicture: (act) => void requestAnimationFrame(act),
  later: (act, milliseconds) => {
    const timer = setTimeout(act, milliseconds);
    return () => clearTimeout(timer);
  },
  now: () => Date.now(),
  hidden: () => document.hidden,
  whenShown: (act) => {
    const look = (): void => {
      if (!document.hidden) act();
    };
    document.addEventListener("visibilitychange", look);
    window.addEventListener("online", look);
    return () => {
      document.removeEventListener("visibilitychange", look);
      window.removeEventListener("online", look);
    };
  },
  chance: () => Math.random(),
};

/** Open a stream. Close it when what shows it goes away. */
export function openStream(options: StreamOptions, listener: Listener): EventStream {
  return new EventStream(options, listener, browser);
}
