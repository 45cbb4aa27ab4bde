/** Usage by day: days without any are days too. */
import type { Schemas } from "../../lib/api/client.ts";

type Row = Schemas["UsageRow"];
export const DAY = 86_400_000;
const LOOK_BACK = 7; // days that the pace is taken from

/** One row for each of the last days, the newest last. Days are those of UTC, as the server counts them. */
export function byDay(rows: readonly Row[], today: number, days: number): (Row & { at: number })[] {
  const known = new Map(rows.map((row) => [row.day ?? "", row]));
  return Array.from({ length: days }, (_, index) => {
    const at = today - (days - 1 - index) * DAY;
    const day = new Date(at).toISOString().slice(0, 10);
    return { credits: 0, shortfall: 0, input_tokens: 0, output_tokens: 0, ...known.get(day), day, at };
  });
}

/** In how many days a balance is used up, at the pace of the last days; null: it is not. */
export function dryIn(balance: number, rows: readonly { credits: number }[]): number | null {
  const last = rows.slice(-LOOK_BACK);
  const first = last.findIndex((row) => row.credits > 0);
  if (first < 0) return null;
  const pace = last.reduce((sum, row) => sum + row.credits, 0) / (last.length - first);
  return Math.max(0, balance) / pace;
}
