import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { Link, useParams } from "wouter";

import { queries, type RunRecord } from "../../lib/api/queries.ts";
import { useSelectedInSight } from "../../lib/inSight.ts";
import { useParameters } from "../../lib/location.ts";
import { count } from "../../lib/numbers.ts";
import { useShortcuts } from "../../lib/shortcuts.ts";
import { ENDED } from "../../lib/statuses.ts";
import { coarse, relative, useNow } from "../../lib/time.ts";
import { Boundary } from "../../parts/Panel.tsx";
import { ProblemAlert } from "../../parts/ProblemAlert.tsx";
import { StatusBadge } from "../../parts/StatusBadge.tsx";
import { Lasted } from "../../parts/Time.tsx";
import { SkeletonRows } from "../../parts/Waiting.tsx";
import { Actions } from "./Actions.tsx";
import { Slider } from "./Slider.tsx";
import { ExplainPanel } from "./explain/ExplainPanel.tsx";
import { awaited, manyOf } from "./explain/words.ts";
import { reads } from "./reads.ts";
import { TravelProvider, useJournal, useJournalVersion, useTravel, type Travel } from "./store/hooks.ts";
import { Children } from "./tabs/Children.tsx";
import { Context } from "./tabs/Context.tsx";
import { Events } from "./tabs/Events.tsx";
import { GraphTab } from "./tabs/GraphTab.tsx";
import { Timeline } from "./tabs/Timeline.tsx";
import { Tokens } from "./tabs/Tokens.tsx";
import type { Supposed } from "./explain/WhatIf.tsx";
import "./run.css";

const TABS = ["graph", "timeline", "events", "tokens", "context", "explain", "children"] as const;
type TabName = (typeof TABS)[number];

/** One run: its graph, its times, its events, its data, and why. */
export default function RunView(): ReactNode {
  const { id } = useParams<{ id: string }>();
  const { data, error, refetch } = useQuery(queries.run(id));
  if (data === undefined) {
    return (
      <>
        <div className="view-head"><h1 className="given">Run {id}</h1></div>
        {error === null ? <SkeletonRows rows={8} label="The run is loading" /> : <ProblemAlert error={error} onRetry={() => void refetch()} />}
      </>
    );
  }
  return <Loaded key={id} record={data} error={error} onRetry={() => void refetch()} />;
}

function Loaded({ record, error, onRetry }: { readonly record: RunRecord; readonly error: unknown; readonly onRetry: () => void }): ReactNode {
  const journal = useJournal(record);
  const travel = useTravel(journal);
  useJournalVersion(journal);
  const [supposed, setSupposed] = useState<Supposed | null>(null);
  const [parameters, set] = useParameters();
  const named = parameters.get("tab");
  const tab: TabName = TABS.find((each) => each === named) ?? "graph";
  const tabs = useSelectedInSight(tab);
  const show = (next: string): void => set({ tab: next === "graph" ? null : next }, { push: true });
  useShortcuts("Run", [{ keys: "e", label: "Explain", run: () => show("explain") }]);
  const children = useQuery(reads.children(record.run_id)).data ?? [];
  const problem = error ?? journal.error;
  return (
    <TravelProvider value={travel}><div className="run">
      <Head record={record} travel={travel} />
      {problem !== null && problem !== undefined && <div className="run-problem"><ProblemAlert error={problem} onRetry={() => { onRetry(); journal.retry(); }} /></div>}
      <Tabs selectedKey={tab} onSelectionChange={(key) => show(String(key))} className="run-tabs">
        <TabList aria-label="Run views" className="tabs" ref={tabs}>
          <Tab id="graph" className="tab">Graph</Tab>
          <Tab id="timeline" className="tab">Timeline</Tab>
          <Tab id="events" className="tab">Events</Tab>
          <Tab id="tokens" className="tab">Tokens</Tab>
          <Tab id="context" className="tab">Context</Tab>
          <Tab id="explain" className="tab">Explain</Tab>
          <Tab id="children" className="tab" aria-label="Children">Children{children.length > 0 && <span className="tab-count numbers" data-count={count(children.length)} aria-hidden="true" />}</Tab>
        </TabList>
        <TabPanel key={tab} id={tab} className="run-panel">
          <Boundary resetKey={`${record.run_id} ${tab}`}>
            {tab === "graph" && <GraphTab record={record} supposed={supposed} onSupposed={setSupposed} />}
            {tab === "timeline" && <Timeline record={record} />}
            {tab === "events" && <Events record={record} />}
            {tab === "tokens" && <Tokens record={record} />}
            {tab === "context" && <Context />}
            {tab === "explain" && <ExplainPanel record={record} supposed={supposed} onSupposed={setSupposed} />}
            {tab === "children" && <Children record={record} />}
          </Boundary>
        </TabPanel>
      </Tabs>
      <Slider run={record.run_id} />
    </div></TravelProvider>
  );
}

function Head({ record, travel }: { readonly record: RunRecord; readonly travel: Travel }): ReactNode {
  return (
    <header className="run-head">
      <div className="run-title">
        <Link href="/runs" className="link">‹ Runs</Link>
        <h1 className="given">Run {record.run_id}</h1>
        <Link href={`/definitions/${encodeURIComponent(record.workflow)}?version=${String(record.version)}`} className="run-workflow given">{record.workflow}<span className="muted">@{record.version}</span></Link>
      </div>
      <Actions record={record} at={travel.at} last={travel.journal.last} />
      <div className="run-said">
        <div role="status" aria-label="Run status" className="run-status">
          <StatusBadge status={record.status} paused={record.paused} />
          <Sentence record={record} />
        </div>
        <Relations record={record} />
      </div>
    </header>
  );
}

/** What the run waits for, or why it ended, in a sentence. */
function Sentence({ record }: { readonly record: RunRecord }): ReactNode {
  const waiting = record.status === "waiting";
  const { data } = useQuery({ ...reads.explain(record.run_id, null), enabled: waiting });
  if (record.error !== null) {
    const { type, node, message } = record.error;
    return <span className="run-sentence given"><strong>{type}</strong>{node !== null && <> at <code>{node}</code></>}: {message}</span>;
  }
  if (ENDED.has(record.status)) return <span className="run-sentence muted">after <Lasted from={record.started_at ?? record.submitted_at} to={record.completed_at} /></span>;
  if (!waiting) return <span className="run-sentence muted">for <Lasted from={record.started_at ?? record.submitted_at} to={null} /></span>;
  const waits = data?.waits ?? [];
  const [wait] = waits;
  if (wait !== undefined) return <span className="run-sentence given">{`for ${awaited(wait)} at ${wait.node}`}{manyOf(waits) > 1 && ` and ${count(manyOf(waits) - 1)} more`}<Since at={wait.since} due={wait.due} /></span>;
  if (record.waiting_at_node === null) return null;
  return <span className="run-sentence given">{`at ${record.waiting_at_node}`}{record.waiting_label !== null && `, for ${record.waiting_label}`}</span>;
}

function Since({ at, due }: { readonly at: string; readonly due: string | null }): ReactNode {
  const now = useNow();
  return <span className="muted numbers" aria-live="off">{`, since ${coarse(now - new Date(at).getTime())}${due === null ? "" : `, due ${relative(due, now)}`}`}</span>;
}

/** Where the run comes from: the run that called it, the one it was forked from, the trigger that fired. */
function Relations({ record }: { readonly record: RunRecord }): ReactNode {
  const { parent_run_id: parent, forked_from: forked, trigger_type: trigger, trigger_id: by } = record;
  return (
    <div className="run-relations">
      {parent !== null && <span>called by <Link className="link mono" href={`/runs/${parent}`}>{parent}</Link></span>}
      {forked !== null && <span>forked from <Link className="link mono" href={`/runs/${forked.run_id}?at=${String(forked.entry)}`}>{forked.run_id}</Link> at entry {forked.entry} · <Link className="link" href={`/compare?a=${forked.run_id}&b=${record.run_id}`}>compare</Link></span>}
      {trigger !== "manual" && parent === null && <span>{`fired by ${trigger}`}{by !== null && <> <code className="given">{by}</code></>}</span>}
    </div>
  );
}
