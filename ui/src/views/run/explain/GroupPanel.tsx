import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState, type ReactNode } from "react";

import type { RunRecord } from "../../../lib/api/queries.ts";
import { useParameters } from "../../../lib/location.ts";
import { count } from "../../../lib/numbers.ts";
import { colour, useColourVersion } from "../../../lib/theme.ts";
import { duration } from "../../../lib/time.ts";
import { Button } from "../../../parts/Button.tsx";
import { Choice, TextField } from "../../../parts/Field.tsx";
import { ProblemAlert } from "../../../parts/ProblemAlert.tsx";
import { StatusBadge } from "../../../parts/StatusBadge.tsx";
import { Lasted } from "../../../parts/Time.tsx";
import { SkeletonRows } from "../../../parts/Waiting.tsx";
import { SLOT_LOOKS, binned, type SlotRuns } from "../graph/marks.ts";
import { choosing, useHere } from "../here.ts";
import { reads } from "../reads.ts";
import { useJournalVersion, useTravelled } from "../store/hooks.ts";
import { TokenBadge, type Token } from "../tabs/Tokens.tsx";
import { Link } from "wouter";

/** One fan-out: how far it is, its slots, its failures by kind, and each slot's own way. */
export function GroupPanel({ record, group }: { readonly record: RunRecord; readonly group: number }): ReactNode {
  const { journal, settled, at } = useTravelled();
  useJournalVersion(journal);
  const [parameters, set] = useParameters();
  const run = record.run_id;
  const past = useQuery({ ...reads.graph(run, settled), enabled: settled !== null });
  const groups = (at === null ? journal.live?.groups : past.data?.groups) ?? journal.live?.groups ?? [];
  const progress = groups.find((each) => each.id === group);
  const slots = useQuery(reads.slots(run, group, settled));
  const slotText = parameters.get("slot");
  const slot = slotText === null ? null : Number(slotText);
  const jump = (to: number | null): void => set({ slot: to === null ? null : String(to) });
  const alike = groups.filter((each) => progress !== undefined && each.node === progress.node);
  return (
    <>
      <h2 className="given">Group {progress?.name ?? String(group)}</h2>
      {alike.length > 1 && <Choice label="Fan-out" hideLabel value={String(group)} onChange={(event) => set({ group: event.target.value, slot: null })} options={alike.map((each, index) => [String(each.id), `Fan-out ${String(index + 1)} of ${String(alike.length)} from ${each.node}`])} />}
      {progress !== undefined && (
        <dl className="numbers-list numbers">
          <div><dt>arrived</dt><dd>{count(progress.arrived)}</dd></div>
          <div><dt>live</dt><dd>{count(progress.live)}</dd></div>
          <div><dt>lost</dt><dd>{count(progress.lost)}</dd></div>
          <div><dt>of</dt><dd>{count(progress.total)}</dd></div>
          {progress.needed !== null && <div><dt>needed</dt><dd>{count(progress.needed)}</dd></div>}
        </dl>
      )}
      {slots.isError && <ProblemAlert error={slots.error} onRetry={() => void slots.refetch()} />}
      {slots.data === undefined && !slots.isError && <SkeletonRows rows={3} label="Slots are loading" />}
      {slots.data !== undefined && (
        <>
          <SlotStrip runs={slots.data.runs} total={slots.data.total} chosen={slot} onSlot={jump} />
          {slots.data.failures.length > 0 && (
            <section className="explain-part">
              <h3>Failures</h3>
              <ul aria-label="Failures">
                {slots.data.failures.slice(0, 20).map((each) => (
                  <li key={`${each.type} ${each.message}`} className="given">
                    <strong>{count(each.count)}</strong>{` × ${each.type}: ${each.message} `}
                    <button type="button" className="link" onClick={() => jump(each.first)}>slot {each.first}</button>
                  </li>
                ))}
              </ul>
            </section>
          )}
          <SlotJump runs={slots.data.runs} total={slots.data.total} slot={slot} onSlot={jump} />
          {slot !== null && <SlotPath run={run} group={group} slot={slot} status={statusOf(slots.data.runs, slot)} />}
        </>
      )}
    </>
  );
}

function statusOf(runs: SlotRuns, slot: number): string {
  return runs.find(([, first, many]) => slot >= first && slot < first + many)?.[0] ?? "idle";
}

/** The next slot that failed, before or behind one. */
export function nextFailure(runs: SlotRuns, from: number, step: 1 | -1): number | null {
  const failed = runs.filter(([status]) => status === "failed");
  if (step > 0) {
    for (const [, first, many] of failed) if (first + many - 1 > from) return Math.max(first, from + 1);
    return null;
  }
  for (const [, first, many] of failed.toReversed()) if (first < from) return Math.min(first + many - 1, from - 1);
  return null;
}

function SlotJump({ runs, total, slot, onSlot }: { readonly runs: SlotRuns; readonly total: number; readonly slot: number | null; readonly onSlot: (slot: number | null) => void }): ReactNode {
  const [before, after] = [nextFailure(runs, slot ?? total, -1), nextFailure(runs, slot ?? -1, 1)];
  return (
    <div className="slot-jump">
      <TextField label="Slot" type="number" min={0} max={total - 1} value={slot ?? ""} onChange={(event) => onSlot(event.target.value === "" ? null : Math.max(0, Math.min(total - 1, Number(event.target.value) || 0)))} />
      <Button small disabled={before === null} onClick={() => onSlot(before)}>Previous failure</Button>
      <Button small disabled={after === null} onClick={() => onSlot(after)}>Next failure</Button>
    </div>
  );
}

const ROWS = 4;

/** A cell for each slot in the order of their indexes; of several slots in one cell, the worst is shown. */
function SlotStrip({ runs, total, chosen, onSlot }: { readonly runs: SlotRuns; readonly total: number; readonly chosen: number | null; readonly onSlot: (slot: number) => void }): ReactNode {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const colours = useColourVersion();
  const height = total > width ? 12 * ROWS : 16;
  const lines = total > width ? ROWS : 1;
  useEffect(() => {
    const place = canvas.current;
    if (place === null) return;
    const watcher = new ResizeObserver(() => setWidth(place.clientWidth));
    watcher.observe(place);
    return () => watcher.disconnect();
  }, []);
  const bins = Math.max(1, Math.min(total, width * lines));
  useEffect(() => {
    const place = canvas.current;
    const ctx = place?.getContext("2d") ?? null;
    if (place === null || ctx === null || width === 0 || total === 0) return;
    const ratio = window.devicePixelRatio;
    place.width = Math.round(width * ratio);
    place.height = Math.round(height * ratio);
    ctx.scale(ratio, ratio);
    const cells = binned(runs, total, bins);
    const perLine = Math.ceil(bins / lines);
    const cell = width / perLine;
    for (const [bin, status] of cells.entries()) {
      const look = SLOT_LOOKS[status];
      ctx.fillStyle = colour(look === "idle" ? "line-strong" : look);
      ctx.fillRect((bin % perLine) * cell, Math.floor(bin / perLine) * (height / lines), cell - (cell > 4 ? 1 : 0), height / lines - 2);
    }
    if (chosen !== null) {
      const bin = Math.floor((chosen * bins) / total);
      ctx.strokeStyle = colour("ink");
      ctx.lineWidth = 2;
      ctx.strokeRect((bin % perLine) * cell - 1, Math.floor(bin / perLine) * (height / lines), Math.max(3, cell), height / lines - 2);
    }
  }, [runs, total, width, height, lines, bins, chosen, colours]);
  return (
    <canvas
      ref={canvas} className="slot-strip" style={{ height }} aria-hidden="true"
      onClick={(event) => {
        const box = event.currentTarget.getBoundingClientRect();
        const perLine = Math.ceil(bins / lines);
        const line = Math.min(lines - 1, Math.floor(((event.clientY - box.top) / box.height) * lines));
        const bin = line * perLine + Math.floor(((event.clientX - box.left) / box.width) * perLine);
        onSlot(Math.max(0, Math.min(total - 1, Math.floor((bin * total) / bins))));
      }}
    />
  );
}

/** The nodes that one slot went through, and how long such slots took. */
function SlotPath({ run, group, slot, status }: { readonly run: string; readonly group: number; readonly slot: number; readonly status: string }): ReactNode {
  const { settled } = useTravelled();
  const { data, error, refetch } = useQuery(reads.tokens(run, settled));
  const here = useHere();
  const mine = useMemo(() => (data ?? []).filter((token) => token.group === group && token.branch_index === slot), [data, group, slot]);
  const all = useMemo(() => (data ?? []).filter((token) => token.group === group && token.ended_at !== null), [data, group]);
  return (
    <section className="explain-part" aria-label={`Slot ${String(slot)}`}>
      <h3>Slot {slot} <StatusBadge plain status={status} /></h3>
      {error !== null && <ProblemAlert error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <SkeletonRows rows={2} label="Its tokens are loading" />}
      <ol aria-label="Path of the slot">
        {mine.slice(0, 30).map((token) => (
          <li key={token.id}><Link className="link" href={here(choosing(token.id))}>token {token.id}</Link> <span className="given">{token.node}</span> <TokenBadge token={token} /> <span className="muted"><Lasted from={token.created_at} to={token.ended_at} /></span></li>
        ))}
      </ol>
      {all.length > 1 && <Durations tokens={all} />}
    </section>
  );
}

const BARS = 16;

/** How long the tokens of a fan-out took, as a histogram. */
function Durations({ tokens }: { readonly tokens: readonly Token[] }): ReactNode {
  const times = tokens.map((token) => new Date(token.ended_at ?? token.created_at).getTime() - new Date(token.created_at).getTime());
  const longest = times.reduce((most, time) => Math.max(most, time), 1);
  const bars = new Array<number>(BARS).fill(0);
  for (const time of times) bars[Math.min(BARS - 1, Math.floor((time / longest) * BARS))] = (bars[Math.min(BARS - 1, Math.floor((time / longest) * BARS))] ?? 0) + 1;
  const most = Math.max(...bars);
  const median = times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
  return (
    <figure className="durations" aria-label="Durations">
      <svg viewBox={`0 0 ${String(BARS * 10)} 40`} preserveAspectRatio="none" aria-hidden="true">
        <path d={bars.map((value, index) => `M${String(index * 10 + 1)} 40v${String(-(value / most) * 38)}h8v${String((value / most) * 38)}z`).join("")} />
      </svg>
      <figcaption className="muted numbers">{`${count(times.length)} tokens, half of them within ${duration(median)}, the longest ${duration(longest)}`}</figcaption>
    </figure>
  );
}
