import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState, type ReactNode } from "react";
import { Link } from "wouter";

import { useMay } from "../../frame/session.ts";
import { problemOf } from "../../lib/api/problem.ts";
import { queries, type Gate, type Run } from "../../lib/api/queries.ts";
import { navigate, useParameters } from "../../lib/location.ts";
import { count } from "../../lib/numbers.ts";
import { RUN_STATUSES, lookOf } from "../../lib/statuses.ts";
import { useNow } from "../../lib/time.ts";
import { Button } from "../../parts/Button.tsx";
import { DataTable, type Column } from "../../parts/DataTable.tsx";
import { Choice } from "../../parts/Field.tsx";
import { ProblemAlert } from "../../parts/ProblemAlert.tsx";
import { StatusBadge } from "../../parts/StatusBadge.tsx";
import { Clock, Lasted } from "../../parts/Time.tsx";
import { Empty, SkeletonRows } from "../../parts/Waiting.tsx";
import { BookmarkIcon, PlusIcon, RunsIcon, SearchIcon, StatusGlyph } from "../../parts/icons.tsx";
import { Activity } from "./Activity.tsx";
import { Failures } from "./Failures.tsx";
import { SaveQuery, SavedQueries } from "./SavedQueries.tsx";
import { SearchRuns } from "./SearchRuns.tsx";
import { Selection } from "./Selection.tsx";
import { StartRun } from "./StartRun.tsx";
import { WaitingFor } from "./WaitingFor.tsx";
import { TIMES, filterOf, statusesIn } from "./filter.ts";
import { useRunRows } from "./list.ts";
import "./runs.css";

/** All runs: found, followed, acted on. */
export default function Runs(): ReactNode {
  const [parameters, set] = useParameters();
  const minute = Math.floor(useNow() / 60_000) * 60_000;
  const text = parameters.toString();
  const filter = useMemo(() => filterOf(new URLSearchParams(text), minute), [text, minute]);
  const { rows, fresh, showFresh, admit, readMore, query } = useRunRows(filter);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [open, setOpen] = useState<"start" | "save" | null>(null);
  const mayRun = useMay("run");
  const workflows = useQuery(queries.workflows());
  const names = (workflows.data?.workflows ?? []).filter((each) => each.kind !== "agent").map((each) => each.name);
  const q = parameters.get("q") ?? "";
  const search = useCallback((value: string) => set({ q: value }), [set]);
  const selected = rows.filter((run) => chosen.has(run.run_id));
  const filtered = Object.keys(filter).length > 0;

  return (
    <>
      <div className="view-head">
        <h1>Runs</h1>
        <SearchRuns q={q} onSearch={search} workflows={names} error={query.error} />
        {mayRun && <Button variant="primary" onClick={() => setOpen("start")}><PlusIcon size={14} /> Start run</Button>}
      </div>
      <div className="runs-filters">
        <StatusButtons parameters={parameters} set={set} counted={!filtered || Object.keys(filter).join() === "status"} />
        <div className="runs-choices">
          <Choice label="Workflow" hideLabel value={parameters.get("workflow") ?? ""} onChange={(event) => set({ workflow: event.target.value })} options={[["", "All workflows"], ...names.map((name): [string, string] => [name, name])]} />
          <Choice label="Time" hideLabel value={parameters.get("time") ?? ""} onChange={(event) => set({ time: event.target.value, since: null, until: null })} options={TIMES} />
          {mayRun && <Button variant="quiet" onClick={() => setOpen("save")}><BookmarkIcon size={14} /> Save query</Button>}
        </div>
      </div>
      <SavedQueries q={q} />
      <Activity runs={rows} onRange={(since, until) => set({ since, until, time: null }, { push: true })} />
      {query.isError && problemOf(query.error).code !== "bad_query" && <ProblemAlert error={query.error} onRetry={() => void query.refetch()} />}
      <Failures failed={rows.filter((run) => run.error !== null).length} filter={filter} onChoose={mayRun ? (runs) => setChosen(new Set(runs)) : null} />
      {fresh > 0 && <div className="fresh"><Button small variant="primary" onClick={showFresh}>{`${count(fresh)} new`}</Button></div>}
      <Rows rows={rows} pending={query.isPending} filtered={filtered} chosen={chosen} setChosen={mayRun ? setChosen : null} readMore={readMore} onStart={mayRun ? () => setOpen("start") : null} />
      {selected.length > 0 && <Selection runs={selected} filter={filter} complete={!query.hasNextPage && selected.length === rows.length} onClear={() => setChosen(new Set())} />}
      {open === "start" && <StartRun onClose={() => setOpen(null)} onStarted={admit} {...(parameters.get("workflow") === null ? {} : { workflow: parameters.get("workflow") ?? "" })} />}
      {open === "save" && <SaveQuery q={q} onClose={() => setOpen(null)} />}
    </>
  );
}

interface StatusProps {
  readonly parameters: URLSearchParams;
  readonly set: ReturnType<typeof useParameters>[1];
  /** Whether the store's counts are those of this list. */
  readonly counted: boolean;
}

function StatusButtons({ parameters, set, counted }: StatusProps): ReactNode {
  const chosen = statusesIn(parameters);
  const store = useQuery(queries.store());
  return (
    <div role="group" aria-label="Status" className="toggles">
      {RUN_STATUSES.map((status) => {
        const pressed = chosen.includes(status);
        const number = store.data?.runs[status] ?? 0;
        const next = pressed ? chosen.filter((each) => each !== status) : [...chosen, status];
        return (
          <button key={status} type="button" className={`toggle look-${lookOf(status)}`} aria-pressed={pressed} onClick={() => set({ status: next.join(",") })}>
            <StatusGlyph look={lookOf(status)} size={12} />{status}
            {counted && number > 0 && <span className="numbers muted">{count(number)}</span>}
          </button>
        );
      })}
    </div>
  );
}

interface RowsProps {
  readonly rows: readonly Run[];
  readonly pending: boolean;
  readonly filtered: boolean;
  readonly chosen: ReadonlySet<string>;
  readonly setChosen: ((chosen: ReadonlySet<string>) => void) | null;
  readonly readMore: () => void;
  readonly onStart: (() => void) | null;
}

function Rows({ rows, pending, filtered, chosen, setChosen, readMore, onStart }: RowsProps): ReactNode {
  const waiting = rows.some((run) => run.status === "waiting");
  const { data } = useQuery({ ...queries.gates(), enabled: waiting });
  const gates = useMemo(() => Map.groupBy(data?.gates ?? [], (gate: Gate) => gate.run_id), [data]);
  const columns = useMemo(() => columnsWith(gates), [gates]);
  if (pending) return <div className="panel"><SkeletonRows rows={10} label="Runs are loading" /></div>;
  if (rows.length === 0 && filtered)
    return <div className="panel"><Empty icon={<SearchIcon />} title="No run matches" action={<Button onClick={() => navigate("/runs")}>Show all runs</Button>}>Nothing in this store fits the query, the statuses and the time that were chosen.</Empty></div>;
  if (rows.length === 0)
    return <div className="panel"><Empty icon={<RunsIcon />} title="No runs yet" command={`jeton run workflow.yaml --url ${window.location.origin}`} {...(onStart === null ? {} : { action: <Button onClick={onStart}>Start a run here</Button> })}>Each time that a workflow is started, by hand, on a schedule or by a webhook, its run is listed here.</Empty></div>;
  return (
    <DataTable
      label="Runs" rows={rows} columns={columns} idOf={(run) => run.run_id} onOpen={(run) => navigate(`/runs/${run.run_id}`)} onEnd={readMore}
      {...(setChosen === null ? {} : { selection: { chosen, change: setChosen, nameOf: (run: Run) => `Select run ${run.run_id}` } })}
    />
  );
}

function columnsWith(gates: ReadonlyMap<string, readonly Gate[]>): Column<Run>[] {
  return [
    { name: "Run", width: "11.5rem", cell: (run) => <Link href={`/runs/${run.run_id}`} className="name link">{run.run_id}</Link> },
    { name: "Status", width: "8.25rem", cell: (run) => <StatusBadge status={run.status} paused={run.paused} /> },
    { name: "Workflow", width: "10%", cell: (run) => <span className="given" title={`${run.workflow}@${String(run.version)}`}>{run.workflow}<span className="muted">@{run.version}</span></span> },
    { name: "Waiting for", card: "wide", cell: (run) => <WaitingFor run={run} gates={gates} /> },
    { name: "Submitted", width: "5.75rem", cell: (run) => <Clock at={run.submitted_at} /> },
    { name: "Lasted", width: "6.25rem", end: true, cell: (run) => <Lasted from={run.started_at ?? run.submitted_at} to={run.completed_at} /> },
    { name: "Trigger", width: "5.25rem", card: "hidden", cell: (run) => <span className="muted given" title={run.trigger_id ?? undefined}>{run.trigger_type}</span> },
  ];
}
