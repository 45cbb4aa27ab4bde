/** Where we are: everything after `#`, so that the server knows one page and no query reaches a log.
 *
 * wouter's own hash location puts the query before the `#`; this one keeps it behind: `/#/runs/ID?tab=explain&at=41`. */
import { useCallback, useSyncExternalStore } from "react";

const listeners = new Set<() => void>();

function tell(): void {
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) window.addEventListener("hashchange", tell);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) window.removeEventListener("hashchange", tell);
  };
}

/** The path and the query within a fragment: `#/runs?q=a` → `["/runs", "q=a"]`. */
export function partsOf(hash: string): [path: string, query: string] {
  const text = hash.replace(/^#/, "");
  const mark = text.indexOf("?");
  const path = mark < 0 ? text : text.slice(0, mark);
  return [path.startsWith("/") ? path : `/${path}`, mark < 0 ? "" : text.slice(mark + 1)];
}

/** Go to a place of the page: `/runs?q=status%3Afailed`. */
export function navigate(to: string, options: { replace?: boolean } = {}): void {
  const address = `#${to.replace(/^#/, "")}`;
  if (address === window.location.hash) return;
  if (options.replace === true) window.history.replaceState(window.history.state, "", address);
  else window.history.pushState(null, "", address);
  tell();
}

/** The location for wouter's Router. */
export function useFragmentPath(): [string, typeof navigate] {
  return [useSyncExternalStore(subscribe, () => partsOf(window.location.hash)[0]), navigate];
}
useFragmentPath.hrefs = (to: string): string => `#${to}`;

/** The query within the fragment, for wouter's Router. */
export function useFragmentQuery(): string {
  return useSyncExternalStore(subscribe, () => partsOf(window.location.hash)[1]);
}

/** The fragment with some parameters changed; null and "" remove one. */
export function withParameters(hash: string, changes: Readonly<Record<string, string | null>>): string {
  const [path, query] = partsOf(hash);
  const parameters = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") parameters.delete(name);
    else parameters.set(name, value);
  }
  const text = parameters.toString();
  return text === "" ? path : `${path}?${text}`;
}

type Setter = (changes: Readonly<Record<string, string | null>>, options?: { push?: boolean }) => void;

/** All parameters of the view, and how to change some. A change replaces the entry in the history unless it is pushed. */
export function useParameters(): [URLSearchParams, Setter] {
  const query = useFragmentQuery();
  const set = useCallback<Setter>((changes, options) => {
    navigate(withParameters(window.location.hash, changes), { replace: options?.push !== true });
  }, []);
  return [new URLSearchParams(query), set];
}

/** One parameter of the view: `const [tab, setTab] = useParameter("tab", "graph")`. */
export function useParameter(name: string, otherwise = ""): [string, (value: string, options?: { push?: boolean }) => void] {
  const [parameters, set] = useParameters();
  const change = useCallback(
    (value: string, options?: { push?: boolean }) => set({ [name]: value === otherwise ? null : value }, options),
    [name, otherwise, set],
  );
  return [parameters.get(name) ?? otherwise, change];
}
