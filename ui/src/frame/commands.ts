/** How well a name fits what was typed: all its letters in order; fewer gaps and an earlier start are better. -1: not. */
export function fit(name: string, typed: string): number {
  const text = name.toLowerCase();
  let at = 0;
  let cost = 0;
  for (const letter of typed.toLowerCase().replaceAll(" ", "")) {
    const found = text.indexOf(letter, at);
    if (found < 0) return -1;
    cost += found - at;
    at = found + 1;
  }
  return 1000 - cost;
}
