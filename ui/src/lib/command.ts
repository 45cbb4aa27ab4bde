/** The same as a command: lines for a shell that do what a button does. */

/** A word as a POSIX shell takes it: quoted only if it must be. */
export function quoted(word: string): string {
  return /^[A-Za-z0-9_./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

type Flags = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** `jeton VERB WORDS --flag value --url ORIGIN`; flags without a value are left out, true stands for a bare flag. */
export function command(verb: string, words: readonly string[], flags: Flags = {}, url = window.location.origin): string {
  const parts = ["jeton", verb, ...words.map(quoted)];
  const all: Flags = { ...flags, url };
  for (const [name, value] of Object.entries(all)) {
    if (value === true) parts.push(`--${name}`);
    else if (value !== false && value !== null && value !== undefined && value !== "")
      parts.push(`--${name}`, quoted(String(value)));
  }
  return parts.join(" ");
}

/** JSON for a command's argument, on one line. */
export function inline(value: unknown): string {
  return JSON.stringify(value);
}
