import { useMemo, type ReactNode } from "react";

import { around, difference } from "./difference.ts";

const SIGNS = { same: " ", added: "+", removed: "−" } as const;
const MOST = 1_000; // lines that are shown

/** Two texts as one, with what was added and removed. */
export function Difference({ label, before, after }: { readonly label: string; readonly before: string; readonly after: string }): ReactNode {
  const lines = useMemo(() => around(difference(before, after)), [before, after]);
  const changed = lines.some((line) => line !== null && line.kind !== "same");
  return (
    <section aria-label={label} className="difference" tabIndex={0}>
      {!changed ? <p className="muted">There is no difference.</p> : (
        <ol>
          {lines.slice(0, MOST).map((line, at) => line === null ? <li key={at} className="left-out" aria-hidden="true">⋯</li> : (
            <li key={at} className={line.kind}>
              <span className="number" aria-hidden="true">{line.after ?? line.before}</span>
              <span className="sign">{SIGNS[line.kind]}{line.kind !== "same" && <span className="hidden">{`${line.kind}: `}</span>}</span>
              <code>{line.text}</code>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
