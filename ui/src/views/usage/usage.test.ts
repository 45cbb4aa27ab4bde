import { expect, it } from "vitest";

import { DAY, byDay, dryIn } from "./days.ts";

const row = (day: string, credits: number) => ({ day, credits, shortfall: 0, input_tokens: 0, output_tokens: 0 });

it("days without usage are days too", () => {
  const today = Date.parse("2026-03-12T00:00:00Z");
  const rows = byDay([row("2026-03-11", 4)], today, 3);
  expect(rows.map((each) => [each.day, each.credits])).toEqual([["2026-03-10", 0], ["2026-03-11", 4], ["2026-03-12", 0]]);
  expect(rows[0]?.at).toBe(today - 2 * DAY);
});

it("a balance lasts as long as the pace since the first use of the last week says", () => {
  expect(dryIn(100, [0, 0, 10, 30].map((credits) => ({ credits })))).toBe(5);
  expect(dryIn(100, [{ credits: 0 }])).toBeNull();
});
