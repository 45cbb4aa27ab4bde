/** Who is signed in: a cookie that scripts cannot read. The page keeps no key. */
import { createContext, useContext } from "react";

import type { Me, Scope } from "../lib/api/queries.ts";
import { keep, kept } from "../lib/storage.ts";

const LINK = /^#key=([^&]+)(?:&to=(\/.*))?$/;

/** The key of a link `/#key=…` or `/#key=…&to=/runs/ID`, taken out of the address and of the history at once. */
export function takeKey(): string | null {
  const [, found, place = "/"] = LINK.exec(window.location.hash) ?? [];
  if (found === undefined) return null;
  window.history.replaceState(null, "", `${window.location.pathname}#${place}`);
  try {
    return decodeURIComponent(found);
  } catch {
    return found;
  }
}

/** Whether it is worth asking who is signed in: not of a server that needs a key, in a browser that has never sent one. */
export function mayBeSignedIn(): boolean {
  const door = document.querySelector<HTMLMetaElement>("meta[name=jeton-door]")?.content;
  return door !== "key" || kept("session") !== null;
}

/** Remember that there is a session, or that there is none. */
export function rememberSession(there: boolean): void {
  keep("session", there ? "begun" : null);
}

export interface Session {
  readonly me: Me;
  readonly signOut: () => void;
}

export const SessionContext = createContext<Session | null>(null);

/** The session; it is there wherever a view is. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error("nobody is signed in");
  return session;
}

/** Whether a key of these scopes may do what needs one of `wanted`. `admin` holds all. */
export function mayWith(scopes: readonly Scope[], wanted: readonly Scope[]): boolean {
  return scopes.includes("admin") || wanted.some((scope) => scopes.includes(scope));
}

/** Whether who is signed in may do what needs one of these scopes: buttons that would be refused are not shown. */
export function useMay(...wanted: Scope[]): boolean {
  return mayWith(useSession().me.scopes, wanted);
}
