import { expect, it } from "vitest";

import { fit } from "./commands.ts";
import { connectionText } from "./connection.ts";
import { mayWith } from "./session.ts";

it("the connection is told in words", () => {
  const since = new Date(2026, 2, 12, 8, 3).getTime();
  expect(connectionText({ kind: "live" }, since)[1]).toBe("live");
  expect(connectionText({ kind: "connecting" }, since)[1]).toBe("reconnecting");
  expect(connectionText({ kind: "away", since }, since + 4_000)[1]).toBe("reconnecting");
  expect(connectionText({ kind: "away", since }, since + 6_000)[1]).toBe("stale since 08:03");
});

it("commands are found by letters in order, closer ones first", () => {
  expect(fit("Go to Runs", "gru")).toBeGreaterThan(0);
  expect(fit("Go to Runs", "xyz")).toBe(-1);
  expect(fit("Search runs", "sea")).toBeGreaterThan(fit("Keyboard shortcuts", "sea") );
});

it("admin may do everything, others what they name", () => {
  expect([mayWith(["admin"], ["run"]), mayWith(["read"], ["run"]), mayWith(["answer"], ["read", "answer"])]).toEqual([true, false, true]);
});
