/** Toasts only confirm. What was refused is shown where it was asked for. */
import { useSyncExternalStore } from "react";

export interface Toast {
  readonly id: number;
  readonly text: string;
}

const SHOWN_FOR = 5_000;
let shown: readonly Toast[] = [];
let last = 0;
const watchers = new Set<() => void>();

function change(next: readonly Toast[]): void {
  shown = next;
  for (const watcher of watchers) watcher();
}

/** Confirm that something was done. */
export function toast(text: string): void {
  last += 1;
  const made = { id: last, text };
  change([...shown.slice(-2), made]);
  setTimeout(() => dismiss(made.id), SHOWN_FOR);
}

export function dismiss(id: number): void {
  if (shown.some((each) => each.id === id)) change(shown.filter((each) => each.id !== id));
}

export function useToasts(): readonly Toast[] {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => shown,
  );
}
