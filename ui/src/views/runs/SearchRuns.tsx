import { useEffect, useId, useRef, useState, type KeyboardEvent, type ReactNode } from "react";

import { problemOf } from "../../lib/api/problem.ts";
import { useShortcuts } from "../../lib/shortcuts.ts";
import { SearchIcon } from "../../parts/icons.tsx";
import { completions } from "./filter.ts";

interface Props {
  readonly q: string;
  readonly onSearch: (q: string) => void;
  readonly workflows: readonly string[];
  /** Why the server did not take the query. */
  readonly error: unknown;
}

const PAUSE = 250;

/** The server's `q`, completed as it is typed. */
export function SearchRuns({ q, onSearch, workflows, error }: Props): ReactNode {
  const id = useId();
  const [text, setText] = useState(q);
  const [known, setKnown] = useState(q);
  const [at, setAt] = useState(-1);
  const [offering, setOffering] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  if (known !== q) {
    // the address changed by something else: a link, a saved query
    setKnown(q);
    setText(q);
  }
  useEffect(() => {
    const wanted = text.trim();
    if (wanted === q) return;
    const timer = setTimeout(() => {
      setKnown(wanted);
      onSearch(wanted);
    }, PAUSE);
    return () => clearTimeout(timer);
  }, [text, q, onSearch]);
  useShortcuts("Search", [{ keys: "/", label: "Search runs", run: () => field.current?.focus() }]);

  const offered = offering ? completions(text, workflows) : [];
  const take = (value: string): void => {
    setText(value.endsWith(":") || value.endsWith(".") ? value : `${value} `);
    setAt(-1);
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const chosen = offered[at];
    if (event.key === "ArrowDown" && offered.length > 0) setAt((at + 1) % offered.length);
    else if (event.key === "ArrowUp" && offered.length > 0) setAt((at - 1 + offered.length) % offered.length);
    else if (event.key === "Enter" && chosen !== undefined) take(chosen);
    else if (event.key === "Tab" && !event.shiftKey && offered[0] !== undefined && chosen === undefined && offered.length === 1) take(offered[0]);
    else if (event.key === "Enter") {
      setKnown(text.trim());
      onSearch(text.trim());
    }
    else if (event.key === "Escape" && offered.length > 0) setOffering(false);
    else if (event.key === "Escape") field.current?.blur();
    else return;
    event.preventDefault();
  };
  const problem = error === null ? null : problemOf(error);
  const refused = problem?.code === "bad_query" ? problem : null;
  return (
    <div className="search search-runs">
      <SearchIcon size={14} />
      <input
        ref={field} type="search" className="input" aria-label="Search runs" placeholder="status:failed state.verdict:reject" value={text} spellCheck={false} autoComplete="off"
        aria-invalid={refused !== null} aria-describedby={`${id}-told`} aria-controls={offered.length > 0 ? `${id}-list` : undefined} onKeyDown={onKeyDown}
        aria-activedescendant={at >= 0 && at < offered.length ? `${id}-${String(at)}` : undefined}
        onChange={(event) => { setText(event.target.value); setOffering(true); setAt(-1); }} onBlur={() => setOffering(false)}
      />
      {offered.length > 0 && (
        <ul className="menu offered" role="listbox" id={`${id}-list`} aria-label="Completions">
          {offered.map((each, index) => (
            <li key={each} id={`${id}-${String(index)}`} role="option" aria-selected={index === at} className="menu-item" onPointerDown={(event) => { event.preventDefault(); take(each); }}>
              <code>{each}</code>
            </li>
          ))}
        </ul>
      )}
      <div id={`${id}-told`}>
        {refused !== null && <p role="alert" className="query-refused given">{`${refused.problem}: ${refused.remedy}`}</p>}
      </div>
    </div>
  );
}
