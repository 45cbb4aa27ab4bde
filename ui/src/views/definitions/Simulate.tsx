import { useMutation } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import { api, type Schemas } from "../../lib/api/client.ts";
import { count } from "../../lib/numbers.ts";
import { lookOf } from "../../lib/statuses.ts";
import { Button } from "../../parts/Button.tsx";
import { Choice } from "../../parts/Field.tsx";
import { ProblemAlert } from "../../parts/ProblemAlert.tsx";
import { StatusGlyph } from "../../parts/icons.tsx";
import type { File } from "./checking.ts";

type Report = Schemas["Report"];
type Finding = Report["problems"][number];
const SEEDS: readonly (readonly [string, string])[] = [["20", "20 seeds"], ["50", "50 seeds"], ["100", "100 seeds"], ["200", "200 seeds"]];

/** Run the definition under many schedules, in the server, storing nothing. */
export function Simulate({ files, names, blocked }: { readonly files: readonly File[]; readonly names: readonly string[]; readonly blocked: boolean }): ReactNode {
  const [seeds, setSeeds] = useState("50");
  const [faults, setFaults] = useState(false);
  const [chosen, setChosen] = useState("");
  const name = names.includes(chosen) ? chosen : (names[0] ?? "");
  const simulate = useMutation({ mutationFn: () => api.post("/v1/simulate", { body: { files: [...files], name, seeds: Number(seeds), faults } }) });
  return (
    <section aria-label="Simulation" className="simulation">
      <div className="simulation-head">
        {names.length > 1 && <Choice label="Simulated workflow" hideLabel value={name} onChange={(event) => setChosen(event.target.value)} options={names.map((each): [string, string] => [each, each])} />}
        <Choice label="Seeds" hideLabel value={seeds} onChange={(event) => setSeeds(event.target.value)} options={SEEDS} />
        <label className="choice"><input type="checkbox" className="checkbox" checked={faults} onChange={(event) => setFaults(event.target.checked)} /><span>faults</span></label>
        <Button disabled={blocked || name === "" || simulate.isPending} onClick={() => simulate.mutate()}>{simulate.isPending ? "Simulating…" : "Simulate"}</Button>
      </div>
      {simulate.isError && <ProblemAlert error={simulate.error} />}
      {simulate.data !== undefined && <Told report={simulate.data} />}
    </section>
  );
}

function Told({ report }: { readonly report: Report }): ReactNode {
  const endings = report.outcomes.map((each) => `${count(each.count)} ${each.status}${each.error === null ? "" : ` (${each.error}${each.node === null || each.node === undefined ? "" : ` at ${each.node}`})`}`);
  const hangs = report.problems.filter((each) => each.kind !== "differs").map((each) => `${count(each.count)} ${each.kind === "hang" ? "hang" : "broken"}`);
  const look = report.ok ? "completed" : "failed";
  return (
    <>
      <p role="status" aria-label="Simulated" className={`simulated look-${look} given`}><StatusGlyph look={look} />{[...endings, ...hangs].join(" · ")}</p>
      {report.outcomes.length > 0 && (
        <ul className="outcomes">
          {report.outcomes.map((each, at) => (
            <li key={at} className={`look-${lookOf(each.status)}`}>
              <StatusGlyph look={lookOf(each.status)} size={12} /> <span className="numbers">{`${count(each.count)} ${each.status}`}</span> <span className="muted">{`seed ${String(each.seed)}`}</span>
              <code className="given">{each.message ?? JSON.stringify(each.output)}</code>
            </li>
          ))}
        </ul>
      )}
      {report.problems.map((each, at) => <Story key={at} finding={each} />)}
    </>
  );
}

function Story({ finding }: { readonly finding: Finding }): ReactNode {
  const [at, setAt] = useState(1);
  const story = finding.story;
  const shown = story.slice(0, at);
  return (
    <details className="story">
      <summary className="given">{`${finding.kind}: ${finding.what} · seed ${String(finding.seed)}`}</summary>
      {finding.waits !== undefined && finding.waits.length > 0 && <p className="muted given">{`It waits for ${finding.waits.join(", ")}.`}</p>}
      <label className="story-slider"><span className="muted numbers">{`step ${String(Math.min(at, story.length))} of ${String(story.length)}`}</span>
        <input type="range" aria-label={`Story of seed ${String(finding.seed)}`} min={1} max={Math.max(1, story.length)} value={at} onChange={(event) => setAt(Number(event.target.value))} />
      </label>
      <ol>{shown.map((step, index) => <li key={index}><code className="given">{JSON.stringify(step)}</code></li>)}</ol>
    </details>
  );
}
