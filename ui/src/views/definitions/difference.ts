/** What differs between two texts, by lines. */
export interface Line {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
  /** Line numbers in the old and the new text. */
  readonly before: number | null;
  readonly after: number | null;
}

const MOST = 2_000; // lines in the middle that are compared one by one; beyond that they count as replaced

/** All lines of both texts in order. */
export function difference(before: string, after: string): Line[] {
  const a = before.split("\n");
  const b = after.split("\n");
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  const lines: Line[] = a.slice(0, head).map((text, at) => ({ kind: "same", text, before: at + 1, after: at + 1 }));
  lines.push(...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail), head));
  a.slice(a.length - tail).forEach((text, at) => {
    lines.push({ kind: "same", text, before: a.length - tail + at + 1, after: b.length - tail + at + 1 });
  });
  return lines;
}

function middle(a: readonly string[], b: readonly string[], offset: number): Line[] {
  if (a.length > MOST || b.length > MOST) return [...a.map((text, at) => removed(text, at + offset)), ...b.map((text, at) => added(text, at + offset))];
  const width = b.length + 1;
  // the longest common run of lines from each pair of places on
  const longest = new Uint16Array((a.length + 1) * width);
  const at = (i: number, j: number): number => longest[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) longest[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  }
  const lines: Line[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ kind: "same", text: a[i] ?? "", before: i + offset + 1, after: j + offset + 1 });
      i += 1;
      j += 1;
    } else if (i < a.length && (j >= b.length || at(i + 1, j) >= at(i, j + 1))) {
      lines.push(removed(a[i] ?? "", i + offset));
      i += 1;
    } else {
      lines.push(added(b[j] ?? "", j + offset));
      j += 1;
    }
  }
  return lines;
}

const removed = (text: string, at: number): Line => ({ kind: "removed", text, before: at + 1, after: null });
const added = (text: string, at: number): Line => ({ kind: "added", text, before: null, after: at + 1 });

/** The lines that changed, with a few around them; null stands for lines left out. */
export function around(lines: readonly Line[], context = 3): (Line | null)[] {
  const near = new Set<number>();
  lines.forEach((line, at) => {
    if (line.kind !== "same") for (let each = at - context; each <= at + context; each += 1) near.add(each);
  });
  const shown: (Line | null)[] = [];
  lines.forEach((line, at) => {
    if (near.has(at)) shown.push(line);
    else if (shown.at(-1) !== null && lines.length > 0) shown.push(null);
  });
  return shown;
}

type Nodes = Readonly<Record<string, unknown>>;
export type Mark = "added" | "removed" | "changed";

/** Which nodes differ between two definitions of a workflow or flow. */
export function nodeMarks(before: unknown, after: unknown): Map<string, Mark> {
  const old = nodesIn(before);
  const now = nodesIn(after);
  const marks = new Map<string, Mark>();
  for (const [name, node] of Object.entries(now)) {
    if (!(name in old)) marks.set(name, "added");
    else if (JSON.stringify(old[name]) !== JSON.stringify(node)) marks.set(name, "changed");
  }
  for (const name of Object.keys(old)) if (!(name in now)) marks.set(name, "removed");
  return marks;
}

function idOf(node: unknown): string | null {
  const id = typeof node === "object" && node !== null ? (node as { id?: unknown }).id : null;
  return typeof id === "string" ? id : null;
}

function nodesIn(definition: unknown): Nodes {
  const nodes = typeof definition === "object" && definition !== null ? (definition as { nodes?: unknown }).nodes : undefined;
  if (Array.isArray(nodes)) return Object.fromEntries(nodes.map((node: unknown, at) => [idOf(node) ?? String(at), node]));
  return typeof nodes === "object" && nodes !== null ? (nodes as Nodes) : {};
}
