/** Keys of the whole page: `useShortcuts("Runs", [{ keys: "/", label: "Search", run }])`. The dialog lists them all. */
import { useEffect, useRef, useSyncExternalStore } from "react";

export interface Shortcut {
  /** One key as `event.key` names it, or two with a space: `g r`. */
  readonly keys: string;
  readonly label: string;
  readonly run: () => void;
}

export interface ShortcutGroup {
  readonly group: string;
  readonly shortcuts: readonly Shortcut[];
}

const PAUSE = 1200; // longest time between the two keys of a pair
let groups: readonly { current: ShortcutGroup }[] = [];
let listed: readonly ShortcutGroup[] = [];
const watchers = new Set<() => void>();
let begun: { key: string; at: number } | null = null;

/** Whether keys belong to what has the focus, and are not for the page. */
function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || ["TEXTAREA", "SELECT"].includes(target.tagName)) return true;
  return target instanceof HTMLInputElement && !["checkbox", "radio", "button", "range"].includes(target.type);
}

/** The shortcut that a key completes, among those shown last first; what is over a view wins over the view. */
export function pressed(key: string, at: number, known: readonly ShortcutGroup[]): Shortcut | null {
  const all = known.toReversed().flatMap((each) => each.shortcuts);
  const pair = begun !== null && at - begun.at < PAUSE ? `${begun.key} ${key}` : null;
  begun = null;
  const found = all.find((each) => each.keys === pair) ?? all.find((each) => each.keys === key);
  if (found === undefined && all.some((each) => each.keys.startsWith(`${key} `))) begun = { key, at };
  return found ?? null;
}

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (document.querySelector("[role=dialog], [role=menu]") !== null) return;
  const known = groups.map((each) => each.current);
  // Enter and Space press what has the focus
  const onControl = event.target instanceof HTMLElement && event.target.closest("a, button, input, summary, [role=tab], [role=treeitem]") !== null;
  if ((event.key === "Enter" || event.key === " ") && onControl) return;
  const found = pressed(event.key, event.timeStamp, known);
  if (found === null) return;
  event.preventDefault();
  found.run();
}

function tell(): void {
  listed = groups.map((each) => each.current);
  for (const watcher of watchers) watcher();
}

/** Have these keys work, and listed, for as long as the component is there. */
export function useShortcuts(group: string, shortcuts: readonly Shortcut[]): void {
  const mine = useRef<ShortcutGroup>({ group, shortcuts });
  useEffect(() => {
    mine.current = { group, shortcuts };
  });
  useEffect(() => {
    if (groups.length === 0) window.addEventListener("keydown", onKeyDown);
    const added = mine;
    groups = [...groups, added];
    tell();
    return () => {
      groups = groups.filter((each) => each !== added);
      if (groups.length === 0) window.removeEventListener("keydown", onKeyDown);
      tell();
    };
  }, []);
}

/** All shortcuts that work now, by group. */
export function useShortcutGroups(): readonly ShortcutGroup[] {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => listed,
  );
}
