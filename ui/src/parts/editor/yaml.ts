/** Colours for YAML and JSON, word by word: enough to read by, and a sixth of the size of a full parser. */
import { StreamLanguage, type StreamParser } from "@codemirror/language";

interface State {
  /** The indentation of the line that opened a block of text (`|` or `>`); -1: we are in none. */
  block: number;
}

const KEY = /^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#"'[\]{},&*!|>%@`:-][^#[\]{},:]*|-?[A-Za-z_][\w .-]*)(?=\s*:(?:\s|$))/;

export const parser: StreamParser<State> = {
  name: "yaml",
  startState: () => ({ block: -1 }),
  token(stream, state) {
    if (state.block >= 0) {
      if (stream.sol() && stream.indentation() <= state.block && !/^\s*$/.test(stream.string)) state.block = -1;
      else {
        stream.skipToEnd();
        return "string";
      }
    }
    if (stream.eatSpace()) return null;
    if (stream.match(/^#.*/)) return "comment";
    if (stream.match(/^(---|\.\.\.)(?=\s|$)/)) return "punctuation";
    if (stream.match(KEY)) return "propertyName";
    if (stream.match(/^[|>][+-]?\d*\s*$/)) {
      state.block = stream.indentation();
      return "punctuation";
    }
    if (stream.match(/^"(?:[^"\\]|\\.)*"?/) || stream.match(/^'(?:[^']|'')*'?/)) return "string";
    if (stream.match(/^[&*!][\w.-]*/)) return "keyword";
    if (stream.match(/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?=[\s,\]}]|$)/)) return "number";
    if (stream.match(/^(?:true|false|null|~)(?=[\s,\]}]|$)/)) return "bool";
    if (stream.match(/^[[\]{},:?-]/)) return "punctuation";
    if (!stream.match(/^[^\s#,[\]{}:]+/)) stream.next();
    return null;
  },
  languageData: { commentTokens: { line: "#" } },
};

export const yaml = (): StreamLanguage<State> => StreamLanguage.define(parser);
