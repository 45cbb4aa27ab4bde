import { useEffect, useRef, useState, type ReactNode } from "react";

import { useMay } from "../../frame/session.ts";
import { useShortcuts } from "../../lib/shortcuts.ts";
import { colour, useColourVersion } from "../../lib/theme.ts";
import { exact } from "../../lib/time.ts";
import { Button } from "../../parts/Button.tsx";
import { ForkDialog } from "./ForkDialog.tsx";
import { useJournalVersion, useTravelled } from "./store/hooks.ts";
import type { EntryView, Journal } from "./store/journal.ts";

const SPEEDS: readonly (readonly [string, string])[] = [["entries", "by entries"], ["1", "1×"], ["10", "10×"]];
const STEP = 250; // milliseconds for an entry, when it plays by entries
const LONGEST = 1_500; // nothing happens for longer: go on

/** The journal slider: the run at any entry, in every tab. */
export function Slider({ run }: { readonly run: string }): ReactNode {
  const { journal, at, go } = useTravelled();
  useJournalVersion(journal);
  const [forking, setForking] = useState(false);
  const mayRun = useMay("run");
  const last = Math.max(0, journal.last);
  const here = Math.min(at ?? last, last);
  const entry = journal.entry(here);
  const toFailure = (step: 1 | -1): void => {
    journal.failure(at ?? last + (step < 0 ? 1 : 0), step).then(
      (found) => { if (found !== null) go(found); },
      () => undefined, // the journal shows what went wrong
    );
  };
  const back = (): void => go(Math.max(0, here - 1));
  const on = (): void => go(Math.min(last, here + 1));
  useShortcuts("Journal", [
    { keys: "[", label: "Previous entry", run: back },
    { keys: "]", label: "Next entry", run: on },
    { keys: "{", label: "Previous failure", run: () => toFailure(-1) },
    { keys: "}", label: "Next failure", run: () => toFailure(1) },
    { keys: ".", label: "Live", run: () => go(null) },
  ]);
  const text = at === null ? "live" : `entry ${String(here)} of ${String(last)}`;
  return (
    <div className="slider" role="group" aria-label="Journal">
      <div className="slider-buttons">
        <Button small square variant="quiet" aria-label="First entry" title="First entry" onClick={() => go(0)}><Glyph d="M4 3.5v9M12.5 3.5v9L6 8z" /></Button>
        <Button small square variant="quiet" aria-label="Previous entry" title="Previous entry  [" onClick={back}><Glyph d="M10.5 3.5v9L4.5 8z" /></Button>
        <Play />
        <Button small square variant="quiet" aria-label="Next entry" title="Next entry  ]" onClick={on}><Glyph d="M5.5 3.5v9L11.5 8z" /></Button>
      </div>
      <div className="slider-track">
        <Marks journal={journal} last={last} />
        <input
          type="range" aria-label="Journal entry" min={0} max={last} value={here} aria-valuetext={`entry ${String(here)} of ${String(last)}`}
          style={{ "--part": last === 0 ? 1 : here / last } as React.CSSProperties}
          onChange={(event) => go(Number(event.target.value))}
        />
      </div>
      <Button small aria-pressed={at === null} className="live-button" onClick={() => go(null)}>Live</Button>
      <div className="slider-said">
        <span role="status" aria-label="Time travel" className="numbers">{text}</span>
        {entry !== null && <Said entry={entry} />}
      </div>
      {mayRun && <Button small disabled={journal.last < 0} onClick={() => setForking(true)}>Fork here</Button>}
      {forking && <ForkDialog title="Fork here" run={run} at={here} last={last} onClose={() => setForking(false)} />}
    </div>
  );
}

function Glyph({ d, solid = false }: { readonly d: string; readonly solid?: boolean }): ReactNode {
  return <svg width={14} height={14} viewBox="0 0 16 16" fill={solid ? "currentColor" : "none"} stroke="currentColor" strokeWidth="1.5" strokeLinecap="round" strokeLinejoin="round" aria-hidden="true" focusable="false"><path d={d} /></svg>;
}

function Said({ entry }: { readonly entry: EntryView }): ReactNode {
  return (
    <>
      <time className="muted numbers" dateTime={entry.at}>{exact(entry.at).slice(11)}</time>
      <span className="cut given" title={entry.text}>{entry.text}</span>
    </>
  );
}

/** Plays the journal from where it is: as it was, ten times as fast, or entry by entry. */
function Play(): ReactNode {
  const { journal, at, go } = useTravelled();
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState("entries");
  const last = journal.last;
  const here = at ?? last;
  const over = here >= last;
  useEffect(() => {
    if (!playing || over) return;
    const [now, next] = [journal.entry(here), journal.entry(here + 1)];
    const gap = now === null || next === null ? STEP : new Date(next.at).getTime() - new Date(now.at).getTime();
    const pause = speed === "entries" ? STEP : Math.min(LONGEST, Math.max(40, gap / Number(speed)));
    const timer = setTimeout(() => go(here + 1), pause);
    return () => clearTimeout(timer);
  }, [playing, over, here, speed, journal, go]);
  const on = playing && !over;
  return (
    <>
      <Button
        small square variant="quiet" aria-label={on ? "Stop playing" : "Play"} title={on ? "Stop playing" : "Play"} disabled={last < 1}
        onClick={() => {
          if (!on && over) go(0);
          setPlaying(!on);
        }}
      >
        <Glyph d={on ? "M5 3.5v9M11 3.5v9" : "M4 3v10l9-5z"} solid={!on} />
      </Button>
      <select className="select slider-speed" aria-label="Speed" value={speed} onChange={(event) => setSpeed(event.target.value)}>
        {SPEEDS.map(([value, label]) => <option key={value} value={value}>{label}</option>)}
      </select>
    </>
  );
}

type Mark = "failed" | "waiting" | "timed-out" | "exhausted";

function markOf(entry: EntryView): Mark | null {
  const { decisions } = entry;
  if (decisions.includes("fail_node") || decisions.includes("break_node")) return "failed";
  if (decisions.includes("retry_token")) return "timed-out";
  if (decisions.includes("redeliver_token")) return "exhausted"; // the process that had it was gone
  return decisions.includes("open_gate") || decisions.includes("ask_input") ? "waiting" : null;
}

/** Failures, gates, retries and restarts of the process, where they are on the slider. */
function Marks({ journal, last }: { readonly journal: Journal; readonly last: number }): ReactNode {
  const canvas = useRef<HTMLCanvasElement>(null);
  const version = useJournalVersion(journal);
  const colours = useColourVersion();
  const [width, setWidth] = useState(0);
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
    if (place === null || ctx === null || width === 0) return;
    const ratio = window.devicePixelRatio;
    place.width = Math.round(width * ratio);
    place.height = Math.round(8 * ratio);
    ctx.scale(ratio, ratio);
    const thumb = 14;
    for (const { entry } of journal.known()) {
      const mark = markOf(entry);
      if (mark === null) continue;
      const x = thumb / 2 + (last === 0 ? 1 : entry.number / last) * (width - thumb);
      ctx.fillStyle = colour(mark);
      ctx.fillRect(x - 1, mark === "failed" ? 0 : 3, 2, mark === "failed" ? 8 : 5);
    }
  }, [journal, version, colours, width, last]);
  return <canvas ref={canvas} className="slider-marks" aria-hidden="true" />;
}
