/** What a model wrote, in blocks: paragraphs, lists and code. Nothing else is made of it: it stays text. */
export type Block =
  | { readonly kind: "paragraph"; readonly text: string }
  | { readonly kind: "list"; readonly ordered: boolean; readonly items: readonly string[] }
  | { readonly kind: "code"; readonly language: string; readonly text: string };

const FENCE = /^\s*```(\S*)\s*$/;
const ITEM = /^\s*(?:[-*•]|(\d+)[.)])\s+(.*)$/;

/** The blocks of a text. A code block that has no end yet goes to the end: the text may still be coming. */
export function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  const open: { paragraph: string[]; list: { ordered: boolean; items: string[] } | null } = { paragraph: [], list: null };
  const close = (): void => {
    if (open.paragraph.length > 0) blocks.push({ kind: "paragraph", text: open.paragraph.join("\n") });
    if (open.list !== null) blocks.push({ kind: "list", ...open.list });
    open.paragraph = [];
    open.list = null;
  };
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    const fence = FENCE.exec(line);
    if (fence !== null) {
      close();
      const end = lines.findIndex((each, index) => index > at && /^\s*```\s*$/.test(each));
      const last = end < 0 ? lines.length : end;
      blocks.push({ kind: "code", language: fence[1] ?? "", text: lines.slice(at + 1, last).join("\n") });
      at = last;
      continue;
    }
    const item = ITEM.exec(line);
    if (item !== null) {
      const ordered = item[1] !== undefined;
      if (open.paragraph.length > 0 || open.list?.ordered !== ordered) close();
      open.list ??= { ordered, items: [] };
      open.list.items.push(item[2] ?? "");
    } else if (line.trim() === "") close();
    else {
      if (open.list !== null) close();
      open.paragraph.push(line);
    }
  }
  close();
  return blocks;
}

export type Piece = { readonly code: boolean; readonly strong: boolean; readonly text: string };

/** Pieces of a line: `code` and **strong**, and the rest as it is. */
export function piecesOf(text: string): Piece[] {
  return text.split(/(`[^`\n]+`|\*\*[^*\n]+\*\*)/).filter((part) => part !== "").map((part) => {
    if (part.length > 2 && part.startsWith("`") && part.endsWith("`")) return { code: true, strong: false, text: part.slice(1, -1) };
    if (part.length > 4 && part.startsWith("**") && part.endsWith("**")) return { code: false, strong: true, text: part.slice(2, -2) };
    return { code: false, strong: false, text: part };
  });
}
