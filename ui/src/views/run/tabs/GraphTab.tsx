import { useQueries, useQuery } from "@tanstack/react-query";
import { useMemo, type ReactNode } from "react";

import type { RunRecord } from "../../../lib/api/queries.ts";
import { useParameters } from "../../../lib/location.ts";
import { ProblemAlert } from "../../../parts/ProblemAlert.tsx";
import { Empty, SkeletonRows } from "../../../parts/Waiting.tsx";
import { DefinitionsIcon } from "../../../parts/icons.tsx";
import { ExplainPanel } from "../explain/ExplainPanel.tsx";
import type { Supposed } from "../explain/WhatIf.tsx";
import { Graph } from "../graph/Graph.tsx";
import { edgeMarks, stripsOf, type Group, type SlotRuns } from "../graph/marks.ts";
import type { Shown } from "../graph/paint.ts";
import { sceneOf, type GraphView } from "../graph/scene.ts";
import { reads } from "../reads.ts";
import { useJournalVersion, useTravelled } from "../store/hooks.ts";
import type { NodeCounts } from "../store/journal.ts";

const DETAILED_STRIPS = 3; // whose slots are asked for one by one
const NOBODY: ReadonlySet<string> = new Set();
const NO_COUNTS: NodeCounts = {};
const NO_GROUPS: readonly Group[] = [];

interface Props {
  readonly record: RunRecord;
  readonly supposed: Supposed | null;
  readonly onSupposed: (supposed: Supposed | null) => void;
}

/** The graph with the panel that explains what is chosen in it. */
export function GraphTab({ record, supposed, onSupposed }: Props): ReactNode {
  const layout = useQuery(reads.layout(record.workflow, record.version));
  const { journal } = useTravelled();
  useJournalVersion(journal);
  // before the counts are known, every node would look idle
  const waits = journal.live === null && journal.error === null;
  if (layout.data === undefined || waits) {
    return layout.isError ? <ProblemAlert error={layout.error} onRetry={() => void layout.refetch()} /> : <div className="panel graph-waits"><SkeletonRows rows={8} label="The graph is loading" /></div>;
  }
  return (
    <div className="graph-and-panel">
      {layout.data.nodes.length === 0 ? (
        <div className="panel"><Empty icon={<DefinitionsIcon />} title="No graph">What this run does is not written as a graph. Its events say what happened.</Empty></div>
      ) : (
        <RunGraph record={record} layout={layout.data} supposed={supposed} />
      )}
      <ExplainPanel record={record} supposed={supposed} onSupposed={onSupposed} />
    </div>
  );
}

function RunGraph({ record, layout, supposed }: { readonly record: RunRecord; readonly layout: GraphView; readonly supposed: Supposed | null }): ReactNode {
  const { journal, at, settled } = useTravelled();
  useJournalVersion(journal);
  const [parameters, set] = useParameters();
  const scene = useMemo(() => sceneOf(layout), [layout]);
  const run = record.run_id;
  const live = journal.live;
  const point = useMemo(
    () => (at === null ? null : journal.at(Math.min(at, journal.last))),
    [journal, at, journal.version], // eslint-disable-line react-hooks/exhaustive-deps -- the version tells that it has more
  );
  const counts = (at === null ? live?.nodes : point?.counts) ?? live?.nodes ?? NO_COUNTS;
  const past = useQuery({ ...reads.graph(run, settled), enabled: settled !== null && (live?.groups.length ?? 0) > 0 });
  const groups = (at === null ? live?.groups : past.data?.groups) ?? live?.groups ?? NO_GROUPS;
  const { data: explained } = useQuery(reads.explain(run, settled));
  const marks = useMemo(() => edgeMarks(scene, counts, explained), [scene, counts, explained]);
  const strips = useMemo(() => stripsOf(scene, groups), [scene, groups]);
  const slots = useSlots(run, strips.slice(0, DETAILED_STRIPS).map((strip) => strip.group), settled);
  const node = parameters.get("node");
  const transition = parameters.get("transition");
  const shown = useMemo<Shown>(
    () => ({ scene, counts, marks, strips, slots, node, transition: transition === null ? null : Number(transition), supposed: supposed?.nodes ?? NOBODY }),
    [scene, counts, marks, strips, slots, node, transition, supposed],
  );
  return (
    <Graph
      name={record.workflow} shown={shown}
      onNode={(chosen) => set({ node: chosen, transition: null, token: null, group: null, slot: null })}
      onTransition={(chosen) => set({ transition: String(chosen), node: null, token: null, group: null, slot: null })}
      onGroup={(chosen) => set({ group: String(chosen), node: null, transition: null, token: null, slot: null })}
    />
  );
}

/** The slots of the first fan-outs, for their strips. */
function useSlots(run: string, groups: readonly Group[], at: number | null): ReadonlyMap<number, SlotRuns> {
  return useQueries({
    queries: groups.map((group) => reads.slots(run, group.id, at)),
    combine: (results) => new Map(results.flatMap((result, index) => {
      const group = groups[index];
      return result.data === undefined || group === undefined || result.data.total !== group.total ? [] : [[group.id, result.data.runs] as const];
    })),
  });
}
