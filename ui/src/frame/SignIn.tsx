import { useMutation } from "@tanstack/react-query";
import { useId, useState, type ReactNode } from "react";

import { api } from "../lib/api/client.ts";
import { Button } from "../parts/Button.tsx";
import { ProblemAlert } from "../parts/ProblemAlert.tsx";
import { Mark } from "../parts/icons.tsx";

interface Props {
  /** Why the key of a link was refused. */
  readonly refused: unknown;
  readonly onSignedIn: () => void;
}

/** The form for a key. The key is sent once, for a cookie, and forgotten. */
export function SignIn({ refused, onSignedIn }: Props): ReactNode {
  const [key, setKey] = useState("");
  const id = useId();
  const signIn = useMutation({ mutationFn: () => api.signIn(key.trim()), onSuccess: onSignedIn });
  const error = signIn.error ?? refused;
  return (
    <main className="sign-in">
      <form onSubmit={(event) => { event.preventDefault(); signIn.mutate(); }}>
        <span className="brand"><Mark size={20} /> jeton</span>
        <h1>Sign in</h1>
        <p><code>jeton serve</code> prints a link that signs in, or make a key with <code>jeton keys add</code>.</p>
        <div className="field">
          <label htmlFor={id}>Key</label>
          <input
            id={id} className="input mono" type="text" value={key} onChange={(event) => setKey(event.target.value)} required autoFocus
            autoComplete="off" autoCapitalize="none" spellCheck={false} placeholder="jtn_…"
          />
        </div>
        {error !== null && <ProblemAlert error={error} />}
        <Button type="submit" variant="primary" disabled={signIn.isPending || key.trim() === ""}>Sign in</Button>
      </form>
    </main>
  );
}
