const FIRST = 250;
const LONGEST = 5_000;

/** The pause before the next attempt: doubled each time, with some chance in it so that pages do not come all at once. */
export function backoff(failures: number, chance: number): number {
  return Math.min(LONGEST, FIRST * 2 ** Math.min(failures, 10)) * (0.5 + chance / 2);
}
