import { describe, expect, it } from "vitest";

import { Newest, addressOf } from "./api/client.ts";
import { problemIn, problemOf } from "./api/problem.ts";
import { command, quoted } from "./command.ts";
import { partsOf, withParameters } from "./location.ts";
import { bytes, count, counted } from "./numbers.ts";
import { pressed } from "./shortcuts.ts";
import { holdsKey } from "./storage.ts";
import { clock, coarse, duration, exact, relative } from "./time.ts";

describe("times", () => {
  it.each([
    [0, "0 ms"], [820, "820 ms"], [1_200, "1.2 s"], [9_949, "9.9 s"], [9_960, "9 s"], [59_999, "59 s"], [60_000, "1 min"],
    [6 * 60_000 + 5_000, "6 min 5 s"], [11 * 60_000 + 5_000, "11 min"], [2 * 3_600_000 + 4 * 60_000, "2 h 4 min"],
    [73 * 3_600_000, "3 d 1 h"], [30 * 86_400_000 + 3_600_000, "30 d"], [-5, "0 ms"],
  ])("%i ms is %s", (ms, text) => {
    expect(duration(ms)).toBe(text);
  });
  it("tells how far away a moment is", () => {
    const now = Date.parse("2026-03-12T08:00:00Z");
    expect(relative("2026-03-12T07:59:57Z", now)).toBe("just now");
    expect(relative("2026-03-12T06:00:00Z", now)).toBe("2 h ago");
    expect(relative("2026-03-13T06:00:00Z", now)).toBe("in 22 h");
    expect(coarse(3 * 86_400_000)).toBe("3 d");
  });
  it("names the day only if it is another one", () => {
    const now = new Date(2026, 2, 12, 9, 0, 0).getTime();
    expect(clock(new Date(2026, 2, 12, 8, 3, 57), now)).toBe("08:03:57");
    expect(clock(new Date(2026, 2, 11, 8, 3, 57), now)).toBe("11 Mar 08:03");
    expect(clock(new Date(2025, 2, 11, 8, 3, 57), now)).toBe("11 Mar 2025");
    expect(exact(new Date(2026, 2, 12, 8, 3, 57, 9))).toBe("2026-03-12 08:03:57.009");
  });
});

it("numbers are grouped, counted and sized", () => {
  expect([count(8412), counted(1, "run"), counted(3, "run"), bytes(812), bytes(4_200_000)]).toEqual(["8,412", "1 run", "3 runs", "812 B", "4.2 MB"]);
});

it("commands are quoted for a shell", () => {
  expect(quoted("it's $HOME")).toBe(`'it'\\''s $HOME'`);
  expect(command("cancel", ["1m7h"], { reason: "too late", "dry-run": false, key: "" }, "http://h:1")).toBe(
    "jeton cancel 1m7h --reason 'too late' --url http://h:1",
  );
});

it("places are kept behind the #", () => {
  expect(partsOf("#/runs?q=a%3Ab?c")).toEqual(["/runs", "q=a%3Ab?c"]);
  expect(partsOf("")).toEqual(["/", ""]);
  expect(withParameters("#/runs?q=a&status=failed", { q: null, tab: "x y" })).toBe("/runs?status=failed&tab=x+y");
});

it("addresses are filled, and parameters without a value are left out", () => {
  expect(addressOf("/v1/runs/{run}/events", { path: { run: "a/b" }, query: { after: 0, q: "", at: undefined, x: null } })).toBe(
    "/v1/runs/a%2Fb/events?after=0",
  );
});

it("the newest answer wins over a late one", async () => {
  const newest = new Newest();
  const late = Promise.withResolvers<string>();
  const first = newest.take(() => late.promise);
  const second = newest.take(() => Promise.resolve("new"));
  late.resolve("old");
  expect([await first, await second]).toEqual([undefined, "new"]);
});

it("every error is a problem with a remedy", async () => {
  const body = { code: "run_ended", problem: "p", remedy: "r", request_id: "q" };
  const told = await problemIn(new Response(JSON.stringify(body), { status: 409, headers: { "content-type": "application/problem+json" } }));
  expect([told.code, told.problem, told.remedy, told.requestId, told.status]).toEqual(["run_ended", "p", "r", "q", 409]);
  const strange = await problemIn(new Response("<html>", { status: 502 }));
  expect([strange.code, strange.status]).toEqual(["unknown_answer", 502]);
  expect(problemOf(new Error("x")).code).toBe("page_failed");
});

it("two keys count as a pair only in time", () => {
  const ran: string[] = [];
  const known = [{ group: "x", shortcuts: [{ keys: "g r", label: "", run: () => ran.push("g r") }, { keys: "r", label: "", run: () => ran.push("r") }] }];
  for (const [key, at] of [["g", 0], ["r", 100], ["r", 200], ["g", 300], ["r", 3000]] as const) pressed(key, at, known)?.run();
  expect(ran).toEqual(["g r", "r", "r"]);
});

it("a text with a key in it is known", () => {
  expect(holdsKey(`x jtn_abcdefgh_${"A".repeat(38)} y`)).toBe(true);
  expect(holdsKey("jtn_abc")).toBe(false);
});
