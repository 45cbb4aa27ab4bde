/** Problems of a definition: where in the text each is, and the one change that mends it, if the remedy is exact. */
import type { Schemas } from "../../lib/api/client.ts";

export type Problem = Schemas["Problem"];

export interface Mend {
  /** Where in the text, from its beginning. */
  readonly from: number;
  readonly to: number;
  readonly write: string;
}

const REMEDY = /^write '([^']+)'/;
const WRONG = /'([^']+)'/g;

function lineStart(text: string, line: number): number {
  let at = 0;
  for (let passed = 1; passed < line; passed += 1) {
    const next = text.indexOf("\n", at);
    if (next < 0) return text.length;
    at = next + 1;
  }
  return at;
}

function lastKey(path: string): string {
  return /([^.[\]]+)(?:\[\d+\])*$/.exec(path)?.[1] ?? "";
}

/** The places of a word within a line, as a whole word. */
function places(line: string, word: string): number[] {
  const found: number[] = [];
  for (let at = line.indexOf(word); at >= 0; at = line.indexOf(word, at + 1)) {
    const before = line[at - 1] ?? " ";
    const after = line[at + word.length] ?? " ";
    if (!/[\w-]/.test(before) && !/[\w-]/.test(after)) found.push(at);
  }
  return found;
}

/** The word of the line that a problem is about: the wrong key, or the wrong value of the key that its path ends in. */
function wrongWord(line: string, problem: Problem): { at: number; word: string } | null {
  const key = lastKey(problem.path);
  for (const [, word = ""] of problem.problem.matchAll(WRONG)) {
    const found = places(line, word);
    const asKey = found.filter((at) => /^\s*["']?\s*:/.test(line.slice(at + word.length)));
    const asValue = found.filter((at) => new RegExp(`(^|[\\s{,"'])${key.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}["']?\\s*:\\s*["']?$`).test(line.slice(0, at)));
    const fitting = word === key ? asKey : asValue.length > 0 ? asValue : found;
    if (fitting.length === 1 && fitting[0] !== undefined) return { at: fitting[0], word };
  }
  return null;
}

/** Where a problem is: the word that is wrong, or the whole line. */
export function placeOf(text: string, problem: Problem): { from: number; to: number } {
  const start = lineStart(text, problem.line);
  const end = text.indexOf("\n", start) < 0 ? text.length : text.indexOf("\n", start);
  const line = text.slice(start, end);
  const wrong = wrongWord(line, problem);
  if (wrong !== null) return { from: start + wrong.at, to: start + wrong.at + wrong.word.length };
  return { from: start + (line.length - line.trimStart().length), to: start + line.trimEnd().length };
}

/** The change that mends a problem; null: people must decide. */
export function mendOf(text: string, problem: Problem): Mend | null {
  const write = REMEDY.exec(problem.remedy)?.[1];
  if (write === undefined) return null;
  const start = lineStart(text, problem.line);
  const end = text.indexOf("\n", start) < 0 ? text.length : text.indexOf("\n", start);
  const wrong = wrongWord(text.slice(start, end), problem);
  return wrong === null || wrong.word === write ? null : { from: start + wrong.at, to: start + wrong.at + wrong.word.length, write };
}

export function mended(text: string, mend: Mend): string {
  return text.slice(0, mend.from) + mend.write + text.slice(mend.to);
}
