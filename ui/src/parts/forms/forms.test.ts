import { describe, expect, it } from "vitest";

import { partsOfPath } from "./paths.ts";
import { misfits, withoutUndefined } from "./validator.ts";

const schema = {
  type: "object",
  required: ["name", "lines"],
  properties: {
    name: { type: "string", minLength: 2 },
    lines: { type: "array", items: { type: "object", required: ["sku"], properties: { sku: { type: "string" }, "a/b": { type: "integer" } } } },
    kind: { enum: ["x", "y"] },
  },
};

describe("the validator", () => {
  it.each([
    [{ name: "ab", lines: [] }, []],
    [{ lines: [] }, [["name"]]],
    [{ name: "a", lines: [{ sku: 1 }, { "a/b": "no", sku: "s" }] }, [["name"], ["lines", "0", "sku"], ["lines", "1", "a/b"]]],
    [{ name: "ab", lines: [], kind: "z" }, [["kind"]]],
  ])("finds every misfit with its place: %j", (value, paths) => {
    const found = misfits(schema, value).map((each) => each.path);
    expect(found.toSorted()).toEqual(paths.toSorted());
  });
  it("finds nothing in a schema that it cannot read", () => {
    expect(misfits({ $ref: "#/nowhere" }, 1)).toEqual([]);
  });
});

it("values are sent without what is not set", () => {
  expect(withoutUndefined({ a: undefined, b: [{ c: undefined, d: 1 }] })).toEqual({ b: [{ d: 1 }] });
});

it("places are read in every notation", () => {
  for (const path of ["$.order.lines[0].sku", "order.lines.0.sku", "/order/lines/0/sku", "input.order.lines[0].sku"]) expect(partsOfPath(path)).toEqual(["order", "lines", "0", "sku"]);
});
