import { describe, expect, it } from "vitest";

import { around, difference, nodeMarks } from "./difference.ts";
import { mended, mendOf, placeOf, type Problem } from "./mend.ts";

const problem = (more: Partial<Problem>): Problem => ({ severity: "error", code: "unknown_node", file: "a.yaml", line: 2, path: "workflows.w.transitions[0].to", problem: "", remedy: "", ...more });

describe("mending", () => {
  const text = "transitions:\n  - {from: bb, to: bb, form: x}\n";
  const node = problem({ problem: "leads to 'bb', and no node has that name", remedy: "write 'b', or add a node called 'bb'" });
  it("changes the value of the key that the path names, and no other", () => {
    const mend = mendOf(text, node);
    expect(mend === null ? null : mended(text, mend)).toBe("transitions:\n  - {from: bb, to: b, form: x}\n");
  });
  it("changes a wrong key", () => {
    const key = problem({ path: "workflows.w.transitions[0].form", problem: "'form' is not a key of a transition", remedy: "write 'from', or remove it" });
    const mend = mendOf(text, key);
    expect(mend === null ? null : mended(text, mend)).toContain("from: x");
  });
  it("leaves alone what is not exact", () => {
    expect(mendOf(text, problem({ problem: "'from' is missing", remedy: "add 'from:'" }))).toBeNull();
    expect(mendOf("\n  x: y\n", node)).toBeNull();
  });
  it("underlines the word, or the line", () => {
    expect(text.slice(placeOf(text, node).from, placeOf(text, node).to)).toBe("bb");
    expect(placeOf("a\n  b c \n", problem({ problem: "nothing" }))).toEqual({ from: 4, to: 7 });
    expect(placeOf("a", problem({ line: 9 }))).toEqual({ from: 1, to: 1 });
  });
});

describe("the difference", () => {
  const lines = difference("a\nb\nc\nd", "a\nx\nc\nd\ne");
  it("has every line of both texts, in order", () => {
    expect(lines.filter((line) => line.kind !== "added").map((line) => line.text).join("")).toBe("abcd");
    expect(lines.filter((line) => line.kind !== "removed").map((line) => line.text).join("")).toBe("axcde");
    expect(lines.map((line) => line.kind)).toEqual(["same", "removed", "added", "same", "same", "added"]);
  });
  it("shows what changed with a little around it", () => {
    expect(around(difference("1\n2\n3\n4\n5\n6", "1\n2\n3\n4\n5\n7"), 1).map((line) => line?.text ?? null)).toEqual([null, "5", "6", "7"]);
    expect(around(difference("1", "1"))).toEqual([null]);
  });
  it("marks nodes", () => {
    const marks = nodeMarks({ nodes: { a: 1, b: 1, c: 1 } }, { nodes: { a: 1, b: 2, d: 1 } });
    expect([...marks]).toEqual([["b", "changed"], ["d", "added"], ["c", "removed"]]);
  });
});
