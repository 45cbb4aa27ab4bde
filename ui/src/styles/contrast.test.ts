import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

const css = readFileSync(new URL("./tokens.css", import.meta.url), "utf8");
const GROUNDS = ["ground", "surface", "raised", "subtle", "hover"];
const LOOKS = ["running", "waiting", "completed", "failed", "cancelled", "timed-out", "exhausted", "submitted", "paused", "idle"];

function colours(theme: string): Map<string, string> {
  const pairs = [...css.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);/g)];
  return new Map(pairs.map(([, name = "", light = "", dark = ""]) => [name, theme === "light" ? light : dark]));
}

function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

describe.each(["light", "dark"])("the %s theme", (theme) => {
  const known = colours(theme);
  const pairs: [string, string][] = [
    ...["ink", "ink-2", "ink-3"].flatMap((ink) => GROUNDS.map((ground): [string, string] => [ink, ground])),
    ...["ground", "surface", "raised", "accent-soft", "hover"].map((ground): [string, string] => ["accent-ink", ground]),
    ...LOOKS.flatMap((look): [string, string][] => [[look, `${look}-soft`], [look, "surface"], [look, "raised"], [look, "ground"], [look, "hover"]]),
    ["ink-2", "failed-soft"],
    ["ink", "accent-soft"],
    ["ink-2", "accent-soft"],
    ["on-accent", "accent"],
    ["on-accent", "accent-hover"],
    ["on-danger", "danger"],
    ["on-danger", "danger-hover"],
  ];

  it("has 4.5:1 for every text on every ground it stands on", () => {
    const weak = pairs
      .map(([text, ground]) => [text, ground, contrast(known.get(text) ?? "", known.get(ground) ?? "")] as const)
      .filter(([, , ratio]) => !(ratio >= 4.5));
    expect(weak).toEqual([]);
  });
});
