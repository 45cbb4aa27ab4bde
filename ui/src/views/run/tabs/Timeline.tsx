import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState, type PointerEvent, type ReactNode } from "react";
import { Link } from "wouter";

import type { RunRecord } from "../../../lib/api/queries.ts";
import { useParameters } from "../../../lib/location.ts";
import { count } from "../../../lib/numbers.ts";
import { ENDED } from "../../../lib/statuses.ts";
import { colour, useColourVersion } from "../../../lib/theme.ts";
import { useNow } from "../../../lib/time.ts";
import { Button } from "../../../parts/Button.tsx";
import { ProblemAlert } from "../../../parts/ProblemAlert.tsx";
import { SkeletonRows } from "../../../parts/Waiting.tsx";
import { choosing, useHere } from "../here.ts";
import { reads } from "../reads.ts";
import { useJournalVersion, useTravelled } from "../store/hooks.ts";
import { paintTimeline, ROW } from "./paintTimeline.ts";
import { axisOf, rowsOf, timeAt, type Row } from "./timeRows.ts";
import { tokenStatus } from "./Tokens.tsx";
import { useVirtual } from "./virtual.ts";

/** When each token was where: rows by node, then slot. */
export function Timeline({ record }: { readonly record: RunRecord }): ReactNode {
  const { journal, at, settled } = useTravelled();
  useJournalVersion(journal);
  const { data, error, refetch } = useQuery(reads.tokens(record.run_id, settled));
  const [parameters, set] = useParameters();
  const opened = parameters.get("open") ?? "";
  const { data: children } = useQuery(reads.children(record.run_id));
  const rows = useMemo(() => rowsOf(data ?? [], new Set(opened.split(",").filter(Boolean)), children), [data, opened, children]);
  const entry = at === null ? null : journal.entry(Math.min(at, journal.last));
  const now = useNow();
  const running = !ENDED.has(record.status);
  const end = entry !== null ? new Date(entry.at).getTime() : running ? now : new Date(record.completed_at ?? record.submitted_at).getTime();
  const start = new Date(record.started_at ?? record.submitted_at).getTime();
  const range = rangeIn(parameters.get("range"));
  if (data === undefined) return error === null ? <SkeletonRows rows={8} label="The timeline is loading" /> : <ProblemAlert error={error} onRetry={() => void refetch()} />;
  const toggle = (node: string): void => {
    const open = new Set(opened.split(",").filter(Boolean));
    if (!open.delete(encodeURIComponent(node))) open.add(encodeURIComponent(node));
    set({ open: [...open].join(",") });
  };
  return (
    <div className="timeline">
      <div className="timeline-bar muted">
        <span className="numbers">{`${count(data.length)} tokens`}</span>
        <span>Drag over the times to look closer.</span>
        {range !== null && <Button small onClick={() => set({ range: null })}>Whole time</Button>}
      </div>
      <TimeRows rows={rows} start={start} end={end} range={range} onToggle={toggle} onRange={(from, to) => set({ range: `${String(Math.round(from))}-${String(Math.round(to))}` })} />
    </div>
  );
}

/** A row as it is read out. */
function nameOf({ node, token, tokens, child }: Row): string {
  if (child !== undefined) return `run ${child.run_id} of ${node}, ${child.status.replaceAll("_", " ")}`;
  if (token === null) return `${node}, ${count(tokens.length)} tokens`;
  return `${node} token ${String(token.id)}, ${tokenStatus(token).words}${token.attempt > 1 ? `, attempt ${String(token.attempt)}` : ""}`;
}

function rangeIn(text: string | null): [number, number] | null {
  const found = /^(\d+)-(\d+)$/.exec(text ?? "");
  return found === null ? null : [Number(found[1]), Number(found[2])];
}

interface RowsProps {
  readonly rows: readonly Row[];
  readonly start: number;
  readonly end: number;
  readonly range: readonly [number, number] | null;
  readonly onToggle: (node: string) => void;
  readonly onRange: (from: number, to: number) => void;
}

function TimeRows({ rows, start, end, range, onToggle, onRange }: RowsProps): ReactNode {
  const { box, first, last, offset, height, scrollTop, viewHeight } = useVirtual(rows.length, ROW);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [drag, setDrag] = useState<{ from: number; to: number } | null>(null);
  const colours = useColourVersion();
  const here = useHere();
  const axis = useMemo(() => axisOf(rows, start, end, range), [rows, start, end, range]);
  useEffect(() => {
    const place = canvas.current;
    if (place === null) return;
    const watcher = new ResizeObserver(() => setWidth(place.clientWidth));
    watcher.observe(place);
    return () => watcher.disconnect();
  }, []);
  useEffect(() => {
    const place = canvas.current;
    const ctx = place?.getContext("2d") ?? null;
    if (place === null || ctx === null || width === 0 || document.hidden) return;
    const ratio = window.devicePixelRatio;
    const tall = viewHeight;
    if (place.width !== Math.round(width * ratio) || place.height !== Math.round(tall * ratio)) {
      place.width = Math.round(width * ratio);
      place.height = Math.round(tall * ratio);
    }
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    paintTimeline(ctx, { width, height: tall }, rows.slice(first, last), offset - scrollTop, axis, end, colour, drag);
  }, [rows, first, last, offset, scrollTop, viewHeight, axis, end, width, drag, colours]);
  const at = (event: PointerEvent): number => event.clientX - (canvas.current?.getBoundingClientRect().left ?? 0);
  return (
    <div className="panel timeline-box" ref={box} tabIndex={0} role="group" aria-label="Rows of the timeline">
      <div className="timeline-grid" style={{ height: Math.max(height, ROW) }}>
        <ul aria-label="Timeline" style={{ transform: `translateY(${String(offset)}px)` }}>
          {rows.slice(first, last).map((row) => (
            <li key={row.key} style={{ height: ROW }} aria-label={nameOf(row)}>
              {row.child !== undefined ? (
                <Link className="timeline-token inside" href={`/runs/${row.child.run_id}?tab=timeline`} title={row.child.run_id}><span className="cut given">{row.node}</span> <span className="muted">called</span></Link>
              ) : row.token === null ? (
                <button type="button" className="timeline-open" aria-expanded={row.open} onClick={() => onToggle(row.node)}><span aria-hidden="true">{row.open ? "▾" : "▸"}</span> <span className="cut given">{row.node}</span> <span className="muted numbers">{count(row.tokens.length)}</span></button>
              ) : (
                <Link className={`timeline-token${row.inside ? " inside" : ""}`} href={here({ ...choosing(row.token.id), tab: "explain" })}><span className="cut given">{row.node}</span> <span className="muted numbers">{row.token.branch_index === null ? `token ${String(row.token.id)}` : `slot ${String(row.token.branch_index)}`}{row.token.attempt > 1 && ` · attempt ${String(row.token.attempt)}`}</span></Link>
              )}
            </li>
          ))}
        </ul>
        <canvas
          ref={canvas} aria-hidden="true" className="timeline-canvas" style={{ height: viewHeight }}
          onPointerDown={(event) => { event.currentTarget.setPointerCapture(event.pointerId); setDrag({ from: at(event), to: at(event) }); }}
          onPointerMove={(event) => { if (drag !== null) setDrag({ from: drag.from, to: at(event) }); }}
          onPointerUp={() => {
            if (drag !== null && Math.abs(drag.to - drag.from) > 6) {
              const [a, b] = [timeAt(axis, Math.min(drag.from, drag.to) / width), timeAt(axis, Math.max(drag.from, drag.to) / width)];
              if (b > a) onRange(a, b);
            }
            setDrag(null);
          }}
          onPointerCancel={() => setDrag(null)}
        />
      </div>
    </div>
  );
}
