import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { Link } from "wouter";

import { useMay } from "../../../frame/session.ts";
import type { Schemas } from "../../../lib/api/client.ts";
import type { RunRecord } from "../../../lib/api/queries.ts";
import { useParameters } from "../../../lib/location.ts";
import { count } from "../../../lib/numbers.ts";
import { ENDED } from "../../../lib/statuses.ts";
import { Button } from "../../../parts/Button.tsx";
import { Boundary } from "../../../parts/Panel.tsx";
import { ProblemAlert } from "../../../parts/ProblemAlert.tsx";
import { SkeletonRows } from "../../../parts/Waiting.tsx";
import { CloseIcon } from "../../../parts/icons.tsx";
import { countsText } from "../graph/marks.ts";
import { choosing, useHere } from "../here.ts";
import { reads } from "../reads.ts";
import { useJournalVersion, useTravelled } from "../store/hooks.ts";
import { TokenBadge } from "../tabs/Tokens.tsx";
import { GroupPanel } from "./GroupPanel.tsx";
import { ConsideredList, StoppedList, WaitingList } from "./Lists.tsx";
import { Decided, WhatIf, type Supposed } from "./WhatIf.tsx";
import { fanInWords } from "./words.ts";

interface Props {
  readonly record: RunRecord;
  readonly supposed: Supposed | null;
  readonly onSupposed: (supposed: Supposed | null) => void;
}

type Explained = Schemas["RunExplained"];

/** Why, why not, and waiting for whom: of the run, or of the node, token, transition or group that is chosen. */
export function ExplainPanel({ record, supposed, onSupposed }: Props): ReactNode {
  const [parameters, set] = useParameters();
  const { settled } = useTravelled();
  const [asking, setAsking] = useState(false);
  const mayRun = useMay("run");
  const run = record.run_id;
  const [token, transition, group, node] = ["token", "transition", "group", "node"].map((name) => parameters.get(name));
  const chosen = [token, transition, group, node].some((each) => each !== null && each !== undefined);
  const ended = ENDED.has(record.status);
  return (
    <aside aria-label="Explain" className={chosen ? "panel explain chosen" : "panel explain"}>
      <Boundary resetKey={`${run} ${parameters.toString()}`}>
        {chosen && <Button small square variant="quiet" className="explain-close" aria-label="Explain the run" title="Explain the run" onClick={() => set({ token: null, transition: null, group: null, node: null, slot: null })}><CloseIcon size={12} /></Button>}
        {token != null ? <OfToken run={run} token={Number(token)} at={settled} />
          : transition != null ? <OfTransition run={run} transition={Number(transition)} at={settled} />
          : group != null ? <GroupPanel record={record} group={Number(group)} />
          : <OfRun record={record} node={node ?? null} />}
        {supposed !== null && (
          <section className="explain-part">
            <h3>If token {supposed.token} did<Button small variant="quiet" onClick={() => onSupposed(null)}>Clear</Button></h3>
            <Decided decisions={supposed.decisions} status={supposed.status} />
          </section>
        )}
        {mayRun && !ended && <div className="explain-foot"><Button small onClick={() => setAsking(true)} disabled={settled !== null} title={settled === null ? undefined : "Go to the live run first"}>What if…</Button></div>}
      </Boundary>
      {asking && <WhatIf run={run} token={token == null ? null : Number(token)} onClose={() => setAsking(false)} onSupposed={onSupposed} />}
    </aside>
  );
}

function OfRun({ record, node }: { readonly record: RunRecord; readonly node: string | null }): ReactNode {
  const { journal, settled, at } = useTravelled();
  useJournalVersion(journal);
  const { data, error, refetch } = useQuery(reads.explain(record.run_id, settled));
  const counts = node === null ? undefined : (at === null ? journal.live?.nodes : journal.at(Math.min(at, journal.last))?.counts)?.[node];
  return (
    <>
      <h2 className="given">{node === null ? "Explain" : `Node ${node}`}</h2>
      {node !== null && <p className="muted numbers">{countsText(counts)}</p>}
      {error !== null && <ProblemAlert error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <SkeletonRows rows={5} label="The explanation is loading" />}
      {data !== undefined && <Whole data={data} node={node} run={record.run_id} />}
    </>
  );
}

function Whole({ data, node, run }: { readonly data: Explained; readonly node: string | null; readonly run: string }): ReactNode {
  const here = <T extends { readonly node: string | null }>(values: readonly T[]): readonly T[] => (node === null ? values : values.filter((each) => each.node === node));
  const waits = here(data.waits);
  const routings = here(data.routings);
  const fanIns = here(data.fan_ins);
  const flow = here(data.nodes);
  const missing = here(data.missing);
  const mine = new Set(data.routings.filter((routing) => routing.node === node).map((routing) => routing.token));
  const cancelled = node === null ? data.cancelled : data.cancelled.filter((each) => mine.has(each.token));
  return (
    <>
      {node === null && <Sentence data={data} />}
      <WaitingList waits={waits} run={run} />
      {fanIns.length > 0 && <section className="explain-part"><h3>Fan-ins</h3><ul aria-label="Fan-ins">{fanIns.slice(0, 20).map((each) => <li key={`${String(each.group)} ${each.node}`} className="given">{fanInWords(each)}</li>)}</ul></section>}
      {flow.length > 0 && <FlowNodes nodes={flow} />}
      <ConsideredList routings={routings} />
      <StoppedList cancelled={cancelled} />
      {missing.length > 0 && <section className="explain-part"><h3>No value at</h3><ul aria-label="No value at">{missing.slice(0, 20).map((each, index) => <li key={index} className="given"><code>{each.paths.join(", ")}</code> <span className="muted">{each.node ?? "output_mapping"}, entry {each.entry}</span></li>)}</ul></section>}
      {node !== null && waits.length + routings.length + cancelled.length + flow.length === 0 && <p className="muted">No token has left this node, and none waits in it.</p>}
    </>
  );
}

function Sentence({ data }: { readonly data: Explained }): ReactNode {
  return (
    <div className="explain-part">
      <p className="given">{`The run is ${data.status.replaceAll("_", " ")}`}{data.error !== null && <>{`, because of ${data.error.type}`}{data.error.node !== null && ` at '${data.error.node}'`}: {data.error.message}</>}.</p>
      {data.fan_outs.filter((each) => each.lost > 0).map((each) => <p key={each.group} className="given muted">{`'${each.name}' lost ${count(each.lost)} of ${count(each.total)} branches`}{each.failures.slice(0, 3).map((failure) => `; ${failure.type} at '${failure.node}', ${count(failure.count)} times: ${failure.message}`)}</p>)}
      {data.needs_app !== null && <p className="given">It needs an app: {data.needs_app}</p>}
    </div>
  );
}

function FlowNodes({ nodes }: { readonly nodes: readonly Explained["nodes"][number][] }): ReactNode {
  return (
    <section className="explain-part">
      <h3>Nodes</h3>
      <ul aria-label="Nodes">
        {nodes.slice(0, 50).map((each) => (
          <li key={each.node} className="given">
            <strong>{each.node}</strong>{` is ${each.status}`}
            {each.branch !== null && `, by '${each.branch}'`}
            {each.skip_reason === "branch_not_taken" && " because no branch led to it"}
            {each.skip_reason === "upstream_failure" && ` because of ${each.blocked_by.join(", ")}`}
            {each.error !== null && `: ${each.error}`}
            {each.incoming.filter((incoming) => incoming.fate !== "delivered").map((incoming, index) => <div key={index} className="muted">{`from ${incoming.source} (${incoming.from_output}) ${incoming.fate === "open" ? "is waited for" : `is ${incoming.fate}`}`}</div>)}
          </li>
        ))}
      </ul>
    </section>
  );
}

function OfToken({ run, token, at }: { readonly run: string; readonly token: number; readonly at: number | null }): ReactNode {
  const { data, error, refetch } = useQuery(reads.explainToken(run, token, at));
  const here = useHere();
  if (data === undefined) {
    return (
      <>
        <h2>Token {token}</h2>
        {error === null ? <SkeletonRows rows={4} label="The explanation is loading" /> : <ProblemAlert error={error} onRetry={() => void refetch()} />}
      </>
    );
  }
  const { token: view } = data;
  return (
    <>
      <h2 className="given">Token {token} at {view.node}</h2>
      <p><TokenBadge token={view} /> <code className="muted given">{view.path}</code></p>
      <div className="explain-part">
        <p>{view.parent === null ? "The run's first token." : <>Created by <Link className="link" href={here(choosing(view.parent))}>token {view.parent}</Link>.</>}{view.branch_index !== null && ` Branch ${String(view.branch_index)} of group ${String(view.group)}.`}{view.attempt > 1 && ` Attempt ${String(view.attempt)}.`}</p>
        {view.error !== null && <p className="given">Its node failed: <strong>{String(view.error["type"])}</strong>: {String(view.error["message"])}</p>}
      </div>
      <WaitingList waits={data.waits === null ? [] : [data.waits]} run={run} />
      <ConsideredList routings={data.routing === null ? [] : [data.routing]} />
      <StoppedList cancelled={data.cancelled === null ? [] : [data.cancelled]} />
    </>
  );
}

function OfTransition({ run, transition, at }: { readonly run: string; readonly transition: number; readonly at: number | null }): ReactNode {
  const { data, error, refetch } = useQuery(reads.explainTransition(run, transition, at));
  if (data === undefined) {
    return (
      <>
        <h2>Transition {transition}</h2>
        {error === null ? <SkeletonRows rows={4} label="The explanation is loading" /> : <ProblemAlert error={error} onRetry={() => void refetch()} />}
      </>
    );
  }
  return (
    <>
      <h2 className="given">Transition {data.source} to {data.to}</h2>
      <p className="given muted">priority {data.priority}, {data.condition === null ? "always" : <>if <code>{data.condition}</code></>}</p>
      {data.routings.length === 0 && <p className="muted">Never considered: no token has left <code>{data.source}</code>.</p>}
      <ConsideredList routings={data.routings} only={transition} />
    </>
  );
}
