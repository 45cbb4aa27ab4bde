import { useQuery } from "@tanstack/react-query";
import { useMemo, useState, type ReactNode } from "react";
import { Link } from "wouter";

import { api, type Schemas } from "../../lib/api/client.ts";
import { queries, type RunRecord } from "../../lib/api/queries.ts";
import { useParameters } from "../../lib/location.ts";
import { count } from "../../lib/numbers.ts";
import { duration, exact } from "../../lib/time.ts";
import { Button } from "../../parts/Button.tsx";
import { TextField } from "../../parts/Field.tsx";
import { Panel } from "../../parts/Panel.tsx";
import { ProblemAlert } from "../../parts/ProblemAlert.tsx";
import { StatusBadge } from "../../parts/StatusBadge.tsx";
import { Lasted } from "../../parts/Time.tsx";
import { SkeletonRows } from "../../parts/Waiting.tsx";
import { brief } from "../run/explain/words.ts";
import { Graph } from "../run/graph/Graph.tsx";
import { countsText } from "../run/graph/marks.ts";
import type { Shown } from "../run/graph/paint.ts";
import { sceneOf } from "../run/graph/scene.ts";
import { reads } from "../run/reads.ts";
import { NONE, PLACES, type NodeCounts } from "../run/store/journal.ts";
import { differences, readablePath } from "../run/store/patch.ts";
import { whereTheyPart } from "./parting.ts";
import "../run/run.css";
import "./compare.css";

/** Two runs side by side on one graph: where they part, and what differs. */
export default function Compare(): ReactNode {
  const [parameters, set] = useParameters();
  const [a, b] = [parameters.get("a") ?? "", parameters.get("b") ?? ""];
  return (
    <>
      <div className="view-head"><h1>Compare</h1></div>
      {a === "" || b === "" ? <Choose a={a} b={b} onChosen={(first, second) => set({ a: first, b: second }, { push: true })} /> : <Two key={`${a} ${b}`} a={a} b={b} />}
    </>
  );
}

function Choose({ a, b, onChosen }: { readonly a: string; readonly b: string; readonly onChosen: (a: string, b: string) => void }): ReactNode {
  const [one, setOne] = useState(a);
  const [other, setOther] = useState(b);
  return (
    <form className="compare-choose panel panel-body" onSubmit={(event) => { event.preventDefault(); onChosen(one.trim(), other.trim()); }}>
      <p className="muted">Two runs of the same workflow, or a run and its fork.</p>
      <TextField label="One run" value={one} onChange={(event) => setOne(event.target.value)} required />
      <TextField label="Other run" value={other} onChange={(event) => setOther(event.target.value)} required />
      <div><Button type="submit" variant="primary">Compare</Button></div>
    </form>
  );
}

function Two({ a, b }: { readonly a: string; readonly b: string }): ReactNode {
  const [one, other] = [useQuery(queries.run(a)), useQuery(queries.run(b))];
  const error = one.error ?? other.error;
  if (one.data === undefined || other.data === undefined) {
    return error === null ? <SkeletonRows rows={8} label="The runs are loading" /> : <ProblemAlert error={error} onRetry={() => { void one.refetch(); void other.refetch(); }} />;
  }
  return (
    <div className="compare">
      <div className="compare-heads"><Side name="A" record={one.data} /><Side name="B" record={other.data} /></div>
      <Panel label="Where they part" className="panel-body"><Parting a={one.data} b={other.data} /></Panel>
      <Both a={one.data} b={other.data} />
      <Panel label="Differences" className="compare-panel" head={<h2>Differences</h2>}><Differences a={one.data} b={other.data} /></Panel>
    </div>
  );
}

function Side({ name, record }: { readonly name: string; readonly record: RunRecord }): ReactNode {
  return (
    <section aria-label={`Run ${name}`} className="panel panel-body compare-side">
      <h2><span className="compare-letter" aria-hidden="true">{name}</span><Link className="link mono given" href={`/runs/${record.run_id}`}>{record.run_id}</Link></h2>
      <p><StatusBadge status={record.status} paused={record.paused} /> <span className="given">{record.workflow}<span className="muted">@{record.version}</span></span></p>
      <p className="muted numbers">{exact(record.started_at ?? record.submitted_at)}, for <Lasted from={record.started_at ?? record.submitted_at} to={record.completed_at} /></p>
      {record.error !== null && <p className="given">{record.error.type}: {record.error.message}</p>}
    </section>
  );
}

function Parting({ a, b }: { readonly a: RunRecord; readonly b: RunRecord }): ReactNode {
  const { data, error, refetch } = useQuery({ queryKey: ["run", b.run_id, "parts", a.run_id], queryFn: ({ signal }) => whereTheyPart(a, b, signal) });
  if (data === undefined) return error === null ? <SkeletonRows rows={1} label="The journals are compared" /> : <ProblemAlert error={error} onRetry={() => void refetch()} />;
  const links = (entry: number): ReactNode => (
    <span className="compare-links"><Link className="link" href={`/runs/${a.run_id}?at=${String(entry)}`}>A at entry {entry}</Link><Link className="link" href={`/runs/${b.run_id}?at=${String(entry)}`}>B at entry {entry}</Link></span>
  );
  if (data.entry === null) return <p>Both did the same, entry by entry: {count(data.shared)} entries.</p>;
  return (
    <div className="compare-parting">
      <p>{data.shared === 0 ? "They differ from the first entry on." : `They share ${count(data.shared)} ${data.shared === 1 ? "entry" : "entries"}, up to entry ${String(data.shared - 1)}, and part in entry ${String(data.entry)}.`} {links(Math.max(0, data.entry - 1))}</p>
      <dl>
        <div><dt>A</dt><dd className="given">{data.a ?? "has no such entry"}</dd></div>
        <div><dt>B</dt><dd className="given">{data.b ?? "has no such entry"}</dd></div>
      </dl>
    </div>
  );
}

const NOTHING = { marks: new Map(), strips: [], slots: new Map(), supposed: new Set<string>() } as const;

/** One graph for both: the counts are those of B, and nodes whose counts differ are marked. */
function Both({ a, b }: { readonly a: RunRecord; readonly b: RunRecord }): ReactNode {
  const layout = useQuery(reads.layout(b.workflow, b.version));
  const [one, other] = [useQuery(reads.graph(a.run_id, null)), useQuery(reads.graph(b.run_id, null))];
  const [parameters, set] = useParameters();
  const node = parameters.get("node");
  const scene = useMemo(() => (layout.data === undefined ? null : sceneOf(layout.data)), [layout.data]);
  const differ = useMemo(() => differingNodes(one.data?.nodes ?? {}, other.data?.nodes ?? {}), [one.data, other.data]);
  const shown = useMemo<Shown | null>(() => (scene === null || other.data === undefined ? null : { ...NOTHING, scene, counts: other.data.nodes, node, transition: null, supposed: differ }), [scene, other.data, node, differ]);
  const error = layout.error ?? one.error ?? other.error;
  if (error !== null) return <ProblemAlert error={error} />;
  if (shown === null || one.data === undefined || other.data === undefined) return <SkeletonRows rows={6} label="The graph is loading" />;
  const names = node === null ? [...differ] : [node];
  return (
    <div className="graph-and-panel">
      <Graph name={b.workflow} shown={shown} onNode={(chosen) => set({ node: chosen })} onTransition={() => undefined} onGroup={() => undefined} />
      <section aria-label="Nodes that differ" className="panel explain">
        <h2 className="given">{node === null ? "Nodes that differ" : `Node ${node}`}</h2>
        {a.workflow !== b.workflow && <p className="muted given">The runs are of different workflows: the graph is that of {b.workflow}.</p>}
        {a.workflow === b.workflow && a.version !== b.version && <p className="muted">The runs are of different versions: the graph is that of version {b.version}.</p>}
        {node === null && names.length > 0 && <p className="muted">They have a dashed border in the graph, which shows B.</p>}
        {names.length === 0 && <p className="muted">The same tokens went through each node.</p>}
        <ul>
          {names.slice(0, 40).map((name) => (
            <li key={name} className="given"><strong>{name}</strong><div className="muted numbers">A: {countsText(one.data.nodes[name])}</div><div className="muted numbers">B: {countsText(other.data.nodes[name])}</div></li>
          ))}
        </ul>
        {names.length > 40 && <p className="muted">{`and ${count(names.length - 40)} more`}</p>}
        {node !== null && <Button small onClick={() => set({ node: null })}>All nodes that differ</Button>}
      </section>
    </div>
  );
}

function differingNodes(a: NodeCounts, b: NodeCounts): Set<string> {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return new Set([...names].filter((name) => PLACES.some((place) => (a[name] ?? NONE)[place] !== (b[name] ?? NONE)[place])));
}

const MOST = 200;

/** What differs in input, state and output, and in time and measures. */
function Differences({ a, b }: { readonly a: RunRecord; readonly b: RunRecord }): ReactNode {
  const contextOf = (run: string) => ({ queryKey: ["run", run, "context"], queryFn: ({ signal }: { signal: AbortSignal }): Promise<Schemas["Context"]> => api.get("/v1/runs/{run}/context", { path: { run }, signal }) });
  const [one, other] = [useQuery(contextOf(a.run_id)), useQuery(contextOf(b.run_id))];
  const found = useMemo(() => differences(one.data, other.data), [one.data, other.data]);
  const error = one.error ?? other.error;
  if (error !== null) return <ProblemAlert error={error} />;
  if (one.data === undefined || other.data === undefined) return <SkeletonRows rows={4} label="The contexts are loading" />;
  const rows = [...factsOf(a, b), ...found.slice(0, MOST).map((each) => ({ name: readablePath(each.path), a: brief(each.before), b: brief(each.after) }))];
  return (
    <>
      <table role="table" aria-label="Differences" className="table compare-table">
        <thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">What</th><th role="columnheader" scope="col">A</th><th role="columnheader" scope="col">B</th></tr></thead>
        <tbody role="rowgroup">
          {rows.map((row) => <tr key={row.name} role="row" data-row={row.name}><th role="rowheader" scope="row" className="given">{row.name}</th><td role="cell" className="given"><span className="compare-which">A </span>{row.a}</td><td role="cell" className="given"><span className="compare-which">B </span>{row.b}</td></tr>)}
        </tbody>
      </table>
      {found.length === 0 && <p className="panel-body muted">Input, state and output are the same.</p>}
      {found.length > MOST && <p className="panel-body muted">{`and ${count(found.length - MOST)} more`}</p>}
    </>
  );
}

function lasted(record: RunRecord): string {
  if (record.completed_at === null) return "not over";
  return duration(new Date(record.completed_at).getTime() - new Date(record.started_at ?? record.submitted_at).getTime());
}

function factsOf(a: RunRecord, b: RunRecord): { name: string; a: string; b: string }[] {
  const facts = [{ name: "status", a: a.status, b: b.status }, { name: "time", a: lasted(a), b: lasted(b) }];
  const measures = new Map<string, [string, string]>();
  for (const [index, record] of [a, b].entries()) {
    for (const metric of record.metrics) {
      const name = `${metric.name}${Object.entries(metric.labels).map(([label, value]) => ` ${label}=${value}`).join("")}`;
      const pair = measures.get(name) ?? ["", ""];
      pair[index as 0 | 1] = String(metric.value);
      measures.set(name, pair);
    }
  }
  for (const [name, pair] of measures) facts.push({ name, a: pair[0], b: pair[1] });
  return facts;
}
