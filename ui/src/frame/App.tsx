import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useState, type ReactNode } from "react";

import { api, whenSignedOut } from "../lib/api/client.ts";
import { problemOf } from "../lib/api/problem.ts";
import { queries } from "../lib/api/queries.ts";
import { ProblemAlert } from "../parts/ProblemAlert.tsx";
import { Toasts } from "../parts/Toasts.tsx";
import { Frame } from "./Frame.tsx";
import { SignIn } from "./SignIn.tsx";
import { SessionContext, mayBeSignedIn, rememberSession, type Session } from "./session.ts";

/** The page: the form to sign in, or the frame with a view. */
export function App({ linkKey }: { readonly linkKey: string | null }): ReactNode {
  const client = useQueryClient();
  const [refused, setRefused] = useState<unknown>(null);
  const [exchanging, setExchanging] = useState(linkKey !== null);
  const [known, setKnown] = useState(mayBeSignedIn);
  const me = useQuery({ ...queries.me(), enabled: !exchanging && known });
  const begin = useCallback(() => {
    rememberSession(true);
    setKnown(true);
    setRefused(null);
    void client.resetQueries({ queryKey: ["me"] });
  }, [client]);

  useEffect(() => {
    if (linkKey === null) return;
    let current = true;
    api.signIn(linkKey).then(
      () => {
        if (!current) return;
        begin();
        setExchanging(false);
      },
      (error: unknown) => {
        if (!current) return;
        setRefused(error);
        setExchanging(false);
      },
    );
    return () => {
      current = false;
    };
  }, [linkKey, begin]);

  useEffect(() => whenSignedOut(() => void client.invalidateQueries({ queryKey: ["me"] })), [client]);

  const signedOut = me.isError && problemOf(me.error).signedOut;
  useEffect(() => {
    if (signedOut) rememberSession(false);
  }, [signedOut]);

  const signOut = useCallback(() => {
    const leave = (): void => {
      rememberSession(false);
      window.location.reload(); // nothing of what was read stays behind
    };
    api.delete("/v1/session", {}).then(leave, leave);
  }, []);
  const session = useMemo<Session | null>(() => (me.data === undefined ? null : { me: me.data, signOut }), [me.data, signOut]);

  let content: ReactNode = null; // for the moment before the first answer: nothing flashes
  if (!exchanging && (!known || signedOut)) {
    content = <SignIn refused={refused} onSignedIn={begin} />;
  } else if (session !== null) {
    content = <SessionContext value={session}><Frame /></SessionContext>;
  } else if (me.isError) {
    content = <main className="sign-in"><ProblemAlert error={me.error} onRetry={() => void me.refetch()} /></main>;
  }
  return <>{content}<Toasts /></>;
}
