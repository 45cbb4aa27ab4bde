import { expect, it } from "vitest";

import { withDeltas } from "./streaming.ts";
import { blocksOf, piecesOf } from "./text.ts";

it("a text has paragraphs, lists and code, and nothing else", () => {
  expect(blocksOf("One\ntwo\n\n- a\n- b\n1. c\n```sh\n<b>\n```\nend <img src=x>")).toEqual([
    { kind: "paragraph", text: "One\ntwo" }, { kind: "list", ordered: false, items: ["a", "b"] }, { kind: "list", ordered: true, items: ["c"] },
    { kind: "code", language: "sh", text: "<b>" }, { kind: "paragraph", text: "end <img src=x>" },
  ]);
  expect(blocksOf("```\nnot closed yet")).toEqual([{ kind: "code", language: "", text: "not closed yet" }]);
});

it("a line has code and strong words", () => {
  expect(piecesOf("a `b` **c** ![d](e)")).toEqual([
    { code: false, strong: false, text: "a " }, { code: true, strong: false, text: "b" }, { code: false, strong: false, text: " " },
    { code: false, strong: true, text: "c" }, { code: false, strong: false, text: " ![d](e)" },
  ]);
});

it("a piece replaces the text from its index on", () => {
  const delta = (index: number, text: string) => ({ kind: "delta" as const, conversation_id: "c", turn: 1, move: 0, index, text });
  const first = withDeltas(new Map(), [delta(0, "hel"), delta(3, "lo 😀")]);
  expect(first.get("1.0")).toBe("hello 😀");
  expect(withDeltas(first, [delta(7, "!"), delta(0, "again")]).get("1.0")).toBe("again");
});
