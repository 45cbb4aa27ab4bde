import { useCallback } from "react";

import { useFragmentQuery, withParameters } from "../../lib/location.ts";

/** Links to this very view with some parameters changed: the tab and the entry stay. */
export function useHere(): (changes: Readonly<Record<string, string | null>>) => string {
  const query = useFragmentQuery();
  // eslint-disable-next-line react-hooks/exhaustive-deps -- with another query, links are others
  return useCallback((changes) => withParameters(window.location.hash, changes), [query]);
}

/** A token alone is chosen. */
export function choosing(token: number): Readonly<Record<string, string | null>> {
  return { token: String(token), node: null, transition: null, group: null, slot: null };
}
