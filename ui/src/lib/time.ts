/** Times and durations as people read them. */
import { useSyncExternalStore } from "react";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A duration with at most two units: `820 ms`, `1.2 s`, `6 min`, `2 h 4 min`, `3 d 1 h`. */
export function duration(milliseconds: number): string {
  const ms = Math.max(0, milliseconds);
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < 9_950) return `${(ms / SECOND).toFixed(1)} s`;
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return two(ms, MINUTE, "min", SECOND, "s", ms < 10 * MINUTE);
  if (ms < DAY) return two(ms, HOUR, "h", MINUTE, "min", true);
  return two(ms, DAY, "d", HOUR, "h", ms < 10 * DAY);
}

function two(ms: number, large: number, largeName: string, small: number, smallName: string, both: boolean): string {
  const whole = Math.floor(ms / large);
  const rest = Math.floor((ms - whole * large) / small);
  return both && rest > 0 ? `${whole} ${largeName} ${rest} ${smallName}` : `${whole} ${largeName}`;
}

/** A moment as seen from another: `just now`, `2 h ago`, `in 22 h`. */
export function relative(time: string | number | Date, now: number): string {
  const distance = new Date(time).getTime() - now;
  if (Math.abs(distance) < 5 * SECOND) return "just now";
  const text = coarse(Math.abs(distance));
  return distance < 0 ? `${text} ago` : `in ${text}`;
}

/** A duration in its largest unit only. */
export function coarse(milliseconds: number): string {
  const ms = Math.max(0, milliseconds);
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h`;
  return `${Math.floor(ms / DAY)} d`;
}

/** The time of day, with the day if it is another one: `08:03:57`, `12 Mar 08:03`. */
export function clock(time: string | number | Date, now: number): string {
  const at = new Date(time);
  if (new Date(now).toDateString() === at.toDateString()) return hours(at, true);
  const sameYear = new Date(now).getFullYear() === at.getFullYear();
  const day = `${at.getDate()} ${MONTHS[at.getMonth()] ?? ""}`;
  return sameYear ? `${day} ${hours(at, false)}` : `${day} ${at.getFullYear()}`;
}

/** A moment in full, for titles: `2026-03-12 08:03:57.971`. */
export function exact(time: string | number | Date): string {
  const at = new Date(time);
  const day = `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
  return `${day} ${hours(at, true)}.${String(at.getMilliseconds()).padStart(3, "0")}`;
}

/** Hours and minutes: `08:03`. */
export function hours(at: Date, seconds: boolean): string {
  const text = `${pad(at.getHours())}:${pad(at.getMinutes())}`;
  return seconds ? `${text}:${pad(at.getSeconds())}` : text;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

function pad(value: number): string {
  return String(value).padStart(2, "0");
}

let now = Date.now();
const watchers = new Set<() => void>();
let ticking: ReturnType<typeof setInterval> | undefined;

function tick(): void {
  if (document.hidden) return;
  now = Date.now();
  for (const watcher of watchers) watcher();
}

function watch(watcher: () => void): () => void {
  if (watchers.size === 0) {
    now = Date.now();
    ticking = setInterval(tick, SECOND);
    document.addEventListener("visibilitychange", tick);
  }
  watchers.add(watcher);
  return () => {
    watchers.delete(watcher);
    if (watchers.size === 0) {
      clearInterval(ticking);
      document.removeEventListener("visibilitychange", tick);
    }
  };
}

/** The time now, once a second while the tab is seen: one clock for the whole page. */
export function useNow(): number {
  return useSyncExternalStore(watch, () => now);
}
