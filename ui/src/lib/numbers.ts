/** Numbers as people read them. */
const GROUPED = new Intl.NumberFormat("en-US");

/** A whole number with its thousands apart: `8,412`. */
export function count(value: number): string {
  return GROUPED.format(value);
}

/** A number with its noun: `1 run`, `3 runs`. */
export function counted(value: number, noun: string, nouns = `${noun}s`): string {
  return `${count(value)} ${value === 1 ? noun : nouns}`;
}

/** A size in bytes: `812 B`, `4.2 MB`. */
export function bytes(value: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let size = value;
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${units[unit] ?? ""}`;
}
