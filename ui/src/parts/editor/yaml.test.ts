import { StringStream } from "@codemirror/language";
import { expect, it } from "vitest";

import { parser } from "./yaml.ts";

function words(text: string): string[] {
  const state = parser.startState?.(2) ?? { block: -1 };
  return text.split("\n").flatMap((line) => {
    const stream = new StringStream(line, 2, 2);
    const found: string[] = [];
    while (!stream.eol()) {
      stream.start = stream.pos;
      const kind = parser.token(stream, state);
      if (kind !== null) found.push(`${kind} ${stream.current()}`);
    }
    return found;
  });
}

it.each([
  ["a: 1 # why", ["propertyName a", "punctuation :", "number 1", "comment # why"]],
  ["- {from: tally, ok: true}", ["punctuation -", "punctuation {", "propertyName from", "punctuation :", "punctuation ,", "propertyName ok", "punctuation :", "bool true", "punctuation }"]],
  ['"a b": "x: \\" y"', ['propertyName "a b"', "punctuation :", 'string "x: \\" y"']],
  ["t: |\n  a: 1\nb: ~", ["propertyName t", "punctuation :", "punctuation |", "string   a: 1", "propertyName b", "punctuation :", "bool ~"]],
  ["x: *quorum", ["propertyName x", "punctuation :", "keyword *quorum"]],
])("words of %j have their kinds", (text, kinds) => {
  expect(words(text)).toEqual(kinds);
});
