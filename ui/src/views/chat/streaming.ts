/** Answers while they are made: each piece replaces the text from its index on. */
import type { Delta } from "../../lib/stream/stream.ts";

export type Streaming = ReadonlyMap<string, string>;

export function placeOf(turn: number, move: number): string {
  return `${String(turn)}.${String(move)}`;
}

/** The texts with some pieces more. */
export function withDeltas(texts: Streaming, deltas: readonly Delta[]): Streaming {
  const next = new Map(texts);
  for (const { turn, move, index, text } of deltas) {
    const place = placeOf(turn, move);
    const before = next.get(place) ?? "";
    // characters, as the server counts them: a letter beyond 16 bits is one
    next.set(place, Array.from(before).slice(0, index).join("") + text);
  }
  return next;
}
