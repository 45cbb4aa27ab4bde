import { useQuery } from "@tanstack/react-query";
import { useRef, useState, type CSSProperties, type KeyboardEvent, type ReactNode } from "react";
import { Link } from "wouter";

import type { Run, RunRecord } from "../../../lib/api/queries.ts";
import { navigate } from "../../../lib/location.ts";
import { count } from "../../../lib/numbers.ts";
import { ProblemAlert } from "../../../parts/ProblemAlert.tsx";
import { StatusBadge } from "../../../parts/StatusBadge.tsx";
import { Lasted } from "../../../parts/Time.tsx";
import { Empty, SkeletonRows } from "../../../parts/Waiting.tsx";
import { RunsIcon } from "../../../parts/icons.tsx";
import { reads } from "../reads.ts";

const AT_ONCE = 100;

/** The tree of runs that this one called. */
export function Children({ record }: { readonly record: RunRecord }): ReactNode {
  const { data, error, refetch } = useQuery(reads.children(record.run_id));
  const tree = useRef<HTMLDivElement>(null);
  if (data === undefined) return error === null ? <SkeletonRows rows={4} label="Runs are loading" /> : <ProblemAlert error={error} onRetry={() => void refetch()} />;
  if (data.length === 0) {
    return <div className="panel"><Empty icon={<RunsIcon />} title="It called no runs">A node with <code>workflow: NAME</code> calls another workflow. Its run is listed here, with those that it called itself.</Empty></div>;
  }
  const walk = (event: KeyboardEvent): void => {
    const items = [...(tree.current?.querySelectorAll<HTMLElement>("[role=treeitem]") ?? [])];
    const here = items.findIndex((item) => item.contains(document.activeElement));
    const to = { ArrowDown: items[here + 1], ArrowUp: items[here - 1], Home: items[0], End: items.at(-1) }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    to.focus();
  };
  return <div role="tree" aria-label="Runs it called" className="panel runs-tree" ref={tree} onKeyDown={walk}><Branch runs={data} level={1} /></div>;
}

function Branch({ runs, level }: { readonly runs: readonly Run[]; readonly level: number }): ReactNode {
  const [most, setMost] = useState(AT_ONCE);
  return (
    <>
      {runs.slice(0, most).map((run, index) => <Item key={run.run_id} run={run} level={level} place={index + 1} siblings={runs.length} />)}
      {runs.length > most && <div role="treeitem" aria-level={level} tabIndex={-1} className="tree-more" onClick={() => setMost(most + AT_ONCE)}>{`${count(runs.length - most)} more`}</div>}
    </>
  );
}

function Item({ run, level, place, siblings }: { readonly run: Run; readonly level: number; readonly place: number; readonly siblings: number }): ReactNode {
  const [open, setOpen] = useState(false);
  const { data } = useQuery({ ...reads.children(run.run_id), enabled: open });
  const none = data?.length === 0;
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "ArrowRight" || event.key === "ArrowLeft") setOpen(event.key === "ArrowRight");
    else if (event.key === "Enter" && event.target === event.currentTarget) navigate(`/runs/${run.run_id}`);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <div role="treeitem" aria-level={level} aria-posinset={place} aria-setsize={siblings} aria-expanded={none ? undefined : open} tabIndex={level === 1 && place === 1 ? 0 : -1} style={{ "--level": level - 1 } as CSSProperties} onKeyDown={onKeyDown}>
        <button type="button" className="fold" tabIndex={-1} aria-hidden="true" onClick={() => setOpen(!open)}>{none ? "" : open ? "▾" : "▸"}</button>
        <Link className="link mono" href={`/runs/${run.run_id}`}>{run.run_id}</Link>
        <span className="given">{run.workflow}<span className="muted">@{run.version}</span></span>
        <StatusBadge status={run.status} paused={run.paused} />
        <span className="muted"><Lasted from={run.started_at ?? run.submitted_at} to={run.completed_at} /></span>
        {run.error !== null && <span className="given muted cut">{run.error.message}</span>}
      </div>
      {open && data !== undefined && data.length > 0 && <Branch runs={data} level={level + 1} />}
    </>
  );
}
