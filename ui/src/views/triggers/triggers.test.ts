import { expect, it } from "vitest";

import { curlOf, inZone, whenOf } from "./words.ts";

it.each([
  ["schedule", { cron: "0 7 * * *", time_zone: "Europe/Berlin" }, "0 7 * * *, Europe/Berlin"],
  ["webhook", { path: "a/b", secret: "S" }, "POST /hooks/a/b, signed"],
  ["event", { name: "x.y", condition: "event.n > 1" }, "event x.y if event.n > 1"],
  ["run_finished", { workflow: "w" }, "a run of w ends"],
  ["manual", {}, "by hand"],
])("a trigger of type %s is told in words", (type, on, words) => {
  expect(whenOf({ type, on })).toBe(words);
});

it("times are told on the clocks of the trigger's zone", () => {
  expect(inZone("2026-11-19T06:00:00Z", "Europe/Berlin")).toBe("Thu 19 Nov 07:00 (Europe/Berlin)");
  expect(inZone("2026-11-19T06:00:00Z", "No/Where")).toBe("2026-11-19T06:00:00Z");
});

it("a webhook's line signs its body", () => {
  expect(curlOf({ on: { path: "p", secret: "HOOK" } }, "http://h")).toContain(`-hmac "$HOOK"`);
  expect(curlOf({ on: { path: "p" } }, "http://h")).toBe("curl -X POST -H 'Content-Type: application/json' --data '{}' 'http://h/hooks/p'");
});
