import type { ReactNode } from "react";

import { count } from "../../../lib/numbers.ts";
import { brief } from "../explain/words.ts";
import { readablePath, type Change } from "../store/patch.ts";

const MOST = 50;

/** Changes of a value, each with what was and what is: a minus and a plus, and the words for those who do not see them. */
export function ChangeList({ changes, onPath }: { readonly changes: readonly Change[]; readonly onPath?: (path: string) => void }): ReactNode {
  return (
    <>
      <ul className="changes">
        {changes.slice(0, MOST).map((change, index) => (
          <li key={index}>
            {onPath === undefined ? (
              <span className="change-path given">{readablePath(change.path)}</span>
            ) : (
              <button type="button" className="change-path link given" title="Its history" onClick={() => onPath(change.path)}>{readablePath(change.path)}</button>
            )}
            {change.before !== undefined && <del className="given"><span className="hidden">was </span>{brief(change.before)}</del>}
            {change.after !== undefined ? <ins className="given"><span className="hidden">is </span>{brief(change.after)}</ins> : <span className="muted">removed</span>}
          </li>
        ))}
      </ul>
      {changes.length > MOST && <p className="muted">{`and ${count(changes.length - MOST)} more`}</p>}
    </>
  );
}
