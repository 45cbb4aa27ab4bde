import { useQuery } from "@tanstack/react-query";
import { useRef, type ReactNode } from "react";
import { Link, useParams } from "wouter";

import { useMay } from "../../frame/session.ts";
import type { Schemas } from "../../lib/api/client.ts";
import { queries } from "../../lib/api/queries.ts";
import { navigate, useParameters } from "../../lib/location.ts";
import { useShortcuts } from "../../lib/shortcuts.ts";
import { Button } from "../../parts/Button.tsx";
import { DataTable, type Column } from "../../parts/DataTable.tsx";
import { ProblemAlert } from "../../parts/ProblemAlert.tsx";
import { StatusBadge } from "../../parts/StatusBadge.tsx";
import { Empty, SkeletonRows } from "../../parts/Waiting.tsx";
import { DefinitionsIcon, PlusIcon, SearchIcon } from "../../parts/icons.tsx";
import { NewDefinition } from "./NewDefinition.tsx";
import { OneDefinition } from "./OneDefinition.tsx";
import "./definitions.css";

type Row = Schemas["WorkflowRow"];

const COLUMNS: readonly Column<Row>[] = [
  { name: "Name", cell: (row) => <Link href={`/definitions/${encodeURIComponent(row.name)}`} className="link given">{row.name}</Link> },
  { name: "Kind", width: "9rem", cell: (row) => <span className="muted">{row.kind}</span> },
  { name: "Version", width: "8rem", end: true, card: "named", cell: (row) => <span className="numbers">{row.version}</span> },
  { name: "Versions", width: "8rem", end: true, card: "hidden", cell: (row) => <Link href={`/definitions/${encodeURIComponent(row.name)}?tab=versions`} className="numbers link">{row.versions}</Link> },
  { name: "Triggers", width: "11rem", cell: (row) => row.kind === "agent" ? null : <StatusBadge plain status={row.disabled ? "disabled" : "enabled"} /> },
];

/** All definitions, one of them, or a new one: as the address says. */
export default function Definitions(): ReactNode {
  const { name } = useParams<{ name?: string }>();
  const [parameters] = useParameters();
  if (name !== undefined) return <OneDefinition key={name} name={name} />;
  return parameters.get("new") === null ? <All /> : <NewDefinition />;
}

function All(): ReactNode {
  const { data, isPending, error, refetch } = useQuery(queries.workflows());
  const [parameters, set] = useParameters();
  const field = useRef<HTMLInputElement>(null);
  const mayCheck = useMay("run");
  const q = parameters.get("q") ?? "";
  useShortcuts("Definitions", [{ keys: "/", label: "Search definitions", run: () => field.current?.focus() }]);
  const rows = (data?.workflows ?? []).filter((row) => `${row.name} ${row.kind}`.toLowerCase().includes(q.toLowerCase()));
  return (
    <>
      <div className="view-head">
        <h1>Definitions</h1>
        <div className="search definition-search">
          <SearchIcon size={14} />
          <input ref={field} type="search" className="input" aria-label="Search definitions" placeholder="Search definitions" value={q} onChange={(event) => set({ q: event.target.value })} />
        </div>
        {mayCheck && <Button variant="primary" onClick={() => navigate("/definitions?new=1")}><PlusIcon size={14} /> New definition</Button>}
      </div>
      {error !== null && <ProblemAlert error={error} onRetry={() => void refetch()} />}
      {isPending && <div className="panel"><SkeletonRows rows={8} label="Definitions are loading" /></div>}
      {data !== undefined && rows.length === 0 && (
        <div className="panel">
          {data.workflows.length > 0 ? <Empty icon={<SearchIcon />} title="No definition matches" action={<Button onClick={() => set({ q: null })}>Show all definitions</Button>}>Nothing that is deployed has this in its name.</Empty>
            : <Empty icon={<DefinitionsIcon />} title="Nothing is deployed yet" command="jeton serve library.yaml --watch">Workflows, flows and agents are written in YAML, JSON or Python, and listed here once they are deployed.</Empty>}
        </div>
      )}
      {rows.length > 0 && <DataTable label="Definitions" rows={rows} columns={COLUMNS} idOf={(row) => row.name} onOpen={(row) => navigate(`/definitions/${encodeURIComponent(row.name)}`)} />}
    </>
  );
}
