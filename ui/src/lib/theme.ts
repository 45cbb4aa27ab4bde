/** Light, dark, or as the system has it: `data-theme` on `html`, kept in local storage. */
import { useSyncExternalStore } from "react";

import { keep, kept } from "./storage.ts";

export type Theme = "light" | "dark" | "system";
export const THEMES: readonly Theme[] = ["light", "dark", "system"];

const watchers = new Set<() => void>();
let version = 0;
let colours = new Map<string, string>();

function changed(): void {
  version += 1;
  colours = new Map();
  for (const watcher of watchers) watcher();
}

/** The theme that was chosen. */
export function theme(): Theme {
  const found = kept("theme");
  return THEMES.find((each) => each === found) ?? "system";
}

/** Choose a theme. */
export function chooseTheme(chosen: Theme): void {
  keep("theme", chosen === "system" ? null : chosen);
  document.documentElement.dataset["theme"] = chosen;
  changed();
}

/** Put the theme that was chosen before on the page, before anything is drawn, and follow the system. */
export function applyTheme(): void {
  document.documentElement.dataset["theme"] = theme();
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

export function useTheme(): Theme {
  useSyncExternalStore(watch, () => version);
  return theme();
}

/** A number that changes with the colours: what is drawn on a canvas is drawn again when it does. */
export function useColourVersion(): number {
  return useSyncExternalStore(watch, () => version);
}

/** A colour of styles/tokens.css as a canvas needs it: `colour("running")` → `rgb(27, 95, 201)`. */
export function colour(name: string): string {
  const known = colours.get(name);
  if (known !== undefined) return known;
  const probe = document.createElement("span");
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  colours.set(name, found);
  return found;
}
