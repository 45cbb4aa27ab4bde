import { useInfiniteQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";

import { queries, type Run } from "../../lib/api/queries.ts";
import { navigate } from "../../lib/location.ts";
import { DataTable, type Column } from "../../parts/DataTable.tsx";
import { ProblemAlert } from "../../parts/ProblemAlert.tsx";
import { StatusBadge } from "../../parts/StatusBadge.tsx";
import { Clock, Lasted } from "../../parts/Time.tsx";
import { Empty, SkeletonRows } from "../../parts/Waiting.tsx";
import { RunsIcon } from "../../parts/icons.tsx";

const COLUMNS: readonly Column<Run>[] = [
  { name: "Run", width: "15rem", cell: (run) => <Link href={`/runs/${run.run_id}`} className="name link">{run.run_id}</Link> },
  { name: "Status", width: "10rem", cell: (run) => <StatusBadge status={run.status} paused={run.paused} /> },
  { name: "Version", width: "6rem", cell: (run) => <span className="numbers">{run.version}</span> },
  { name: "Failure", card: "wide", cell: (run) => run.error === null ? null : <span className="given" title={run.error.message}>{`${run.error.type} `}<span className="muted">{run.error.message}</span></span> },
  { name: "Submitted", width: "8rem", cell: (run) => <Clock at={run.submitted_at} /> },
  { name: "Lasted", width: "7rem", end: true, cell: (run) => <Lasted from={run.started_at ?? run.submitted_at} to={run.completed_at} /> },
];

/** The newest runs of a definition. */
export function RunsOf({ workflow }: { readonly workflow: string }): ReactNode {
  const query = useInfiniteQuery(queries.runs({ workflow }));
  const rows = query.data?.pages[0]?.runs ?? [];
  if (query.isError) return <ProblemAlert error={query.error} onRetry={() => void query.refetch()} />;
  if (query.data === undefined) return <div className="panel"><SkeletonRows rows={5} label="Runs are loading" /></div>;
  if (rows.length === 0) return <div className="panel"><Empty icon={<RunsIcon />} title="No runs yet">Runs of this definition, of every version, are listed here.</Empty></div>;
  return (
    <>
      <DataTable label="Runs" rows={rows} columns={COLUMNS} idOf={(run) => run.run_id} onOpen={(run) => navigate(`/runs/${run.run_id}`)} />
      <p className="all-runs"><Link href={`/runs?workflow=${encodeURIComponent(workflow)}`} className="link">All its runs</Link></p>
    </>
  );
}
