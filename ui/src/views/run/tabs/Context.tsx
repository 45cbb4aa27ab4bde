import { useMemo, useState, type ReactNode } from "react";

import { useParameter } from "../../../lib/location.ts";
import { Button } from "../../../parts/Button.tsx";
import { JsonTree } from "../../../parts/JsonTree.tsx";
import { SkeletonRows } from "../../../parts/Waiting.tsx";
import { brief } from "../explain/words.ts";
import { useJournalVersion, useTravelled } from "../store/hooks.ts";
import type { Journal } from "../store/journal.ts";
import { changesOf, differences, readablePath, valueAt, type Change, type Operation } from "../store/patch.ts";
import { ChangeList } from "./ChangeList.tsx";

const MOST_HISTORY = 100;

/** The changes of one entry, each with what was before. Null: not fetched yet. */
export function changesIn(journal: Journal, entry: number): Change[] | null {
  const after = journal.at(entry);
  if (after === null) return null;
  if (entry === 0) return differences({ input: null, state: {}, output: {} }, after.context);
  const [before, delta] = [journal.at(entry - 1), journal.delta(entry)];
  return before === null || delta === null ? null : changesOf(before.context, delta.context as unknown as Operation[]);
}

/** Input, state and output as a tree, and what an entry changed. */
export function Context(): ReactNode {
  const { journal, at, go } = useTravelled();
  const version = useJournalVersion(journal);
  const [shows, setShows] = useParameter("changes");
  const [path, setPath] = useParameter("path");
  const [last, setLast] = useState<unknown>(undefined);
  const entry = Math.min(at ?? journal.last, journal.last);
  const point = useMemo(() => (entry < 0 ? null : journal.at(entry)), [journal, entry, version]); // eslint-disable-line react-hooks/exhaustive-deps -- the version tells that it has more
  if (point !== null && point.context !== last) setLast(point.context);
  const value = point?.context ?? last;
  const changes = useMemo(() => (shows === "" || entry < 0 ? null : changesIn(journal, entry)), [journal, entry, version, shows]); // eslint-disable-line react-hooks/exhaustive-deps -- as above
  if (value === undefined) return <SkeletonRows rows={8} label="The context is loading" />;
  return (
    <div className="context">
      <div className="context-bar">
        <label className="choice"><input type="checkbox" className="checkbox" checked={shows !== ""} onChange={(event) => setShows(event.target.checked ? "1" : "")} /> Show changes</label>
      </div>
      <div className={shows === "" ? undefined : "context-two"}>
        <div className="panel context-tree"><JsonTree label="Context" value={value} /></div>
        {shows !== "" && (
          <div className="context-side">
            <section aria-label={`Changes in entry ${String(entry)}`} className="panel">
              <div className="panel-head"><h2>Changes in entry {entry}</h2></div>
              <div className="panel-body">
                {changes === null && <SkeletonRows rows={3} label="Changes are loading" />}
                {changes !== null && changes.length === 0 && <p className="muted">This entry changed nothing here.</p>}
                {changes !== null && <ChangeList changes={changes} onPath={setPath} />}
              </div>
            </section>
            {path !== "" && <History journal={journal} path={path} onEntry={go} onClose={() => setPath("")} />}
          </div>
        )}
      </div>
    </div>
  );
}

interface HistoryProps {
  readonly journal: Journal;
  readonly path: string;
  readonly onEntry: (entry: number) => void;
  readonly onClose: () => void;
}

/** All entries that changed a place, its members or what it is in. */
function History({ journal, path, onEntry, onClose }: HistoryProps): ReactNode {
  const version = useJournalVersion(journal);
  const found = useMemo(() => {
    const entries: { number: number; value: unknown }[] = [];
    for (const { entry, delta } of journal.known()) {
      const touches = delta === null ? entry.number === 0 : delta.context.some((operation) => touched(String(operation["path"]), path));
      const point = touches ? journal.at(entry.number) : null;
      if (point !== null) entries.push({ number: entry.number, value: valueAt(point.context, path) });
    }
    return entries;
  }, [journal, path, version]); // eslint-disable-line react-hooks/exhaustive-deps -- the version tells that it has more
  return (
    <section aria-label={`History of ${readablePath(path)}`} className="panel">
      <div className="panel-head"><h2 className="given">History of {readablePath(path)}</h2><span className="spring" /><Button small variant="quiet" onClick={onClose}>Close</Button></div>
      <ul className="history">
        {found.slice(-MOST_HISTORY).map((each) => (
          <li key={each.number}><button type="button" className="link numbers" onClick={() => onEntry(each.number)}>entry {each.number}</button> <code className="given">{brief(each.value)}</code></li>
        ))}
      </ul>
    </section>
  );
}

function touched(changed: string, path: string): boolean {
  return changed === path || changed.startsWith(`${path}/`) || path.startsWith(`${changed}/`) || (changed.endsWith("/-") && path.startsWith(changed.slice(0, -1)));
}
