import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState, type ReactNode } from "react";
import { Link, useParams } from "wouter";

import { useStoreEvents } from "../../frame/live.tsx";
import { useMay } from "../../frame/session.ts";
import { api, type Schemas } from "../../lib/api/client.ts";
import { navigate } from "../../lib/location.ts";
import { relative, useNow } from "../../lib/time.ts";
import { Button } from "../../parts/Button.tsx";
import { DataTable, type Column } from "../../parts/DataTable.tsx";
import { ProblemAlert } from "../../parts/ProblemAlert.tsx";
import { StatusBadge } from "../../parts/StatusBadge.tsx";
import { Empty, SkeletonRows } from "../../parts/Waiting.tsx";
import { TriggersIcon } from "../../parts/icons.tsx";
import { FireDialog } from "./FireDialog.tsx";
import { OneTrigger } from "./OneTrigger.tsx";
import { inZone, whenOf } from "./words.ts";
import "./triggers.css";

export type Trigger = Schemas["TriggerView"];

/** All triggers: what fires when, and what came of it. */
export default function Triggers(): ReactNode {
  const { name } = useParams<{ name?: string }>();
  const client = useQueryClient();
  const { data, isPending, error, refetch } = useQuery({ queryKey: ["triggers"], queryFn: ({ signal }) => api.get("/v1/triggers", { signal }) });
  const [firing, setFiring] = useState<Trigger | null>(null);
  const mayFire = useMay("run");
  useStoreEvents((events) => {
    if (events.some((event) => event.type === "run.submitted" || event.type === "run.started")) void client.invalidateQueries({ queryKey: ["triggers"] });
  });
  const columns = useMemo(() => columnsWith(mayFire ? setFiring : null), [mayFire]);
  const triggers = data?.triggers ?? [];
  const chosen = triggers.find((each) => each.name === name);
  return (
    <>
      <div className="view-head"><h1>Triggers</h1></div>
      {error !== null && <ProblemAlert error={error} onRetry={() => void refetch()} />}
      {isPending && <div className="panel"><SkeletonRows rows={6} label="Triggers are loading" /></div>}
      {data !== undefined && triggers.length === 0 && (
        <div className="panel">
          <Empty icon={<TriggersIcon />} title="No triggers yet" command={`jeton triggers --deploy library.yaml --url ${window.location.origin}`}>
            A trigger starts a workflow without a person: on a schedule, by a webhook, on an event, or when another run ends. It stands in a file beside what it starts.
          </Empty>
        </div>
      )}
      {triggers.length > 0 && <DataTable label="Triggers" rows={triggers} columns={columns} idOf={(each) => each.name} onOpen={(each) => navigate(`/triggers/${encodeURIComponent(each.name)}`)} />}
      {name !== undefined && data !== undefined && chosen === undefined && <p role="alert" className="muted no-trigger">{`There is no trigger called “${name}”. It may have been removed.`}</p>}
      {chosen !== undefined && <OneTrigger key={chosen.name} trigger={chosen} onFire={mayFire ? () => setFiring(chosen) : null} />}
      {firing !== null && <FireDialog trigger={firing} onClose={() => setFiring(null)} />}
    </>
  );
}

function columnsWith(fire: ((trigger: Trigger) => void) | null): Column<Trigger>[] {
  return [
    { name: "Name", width: "12%", cell: (each) => <Link href={`/triggers/${encodeURIComponent(each.name)}`} className="link given" title={each.name}>{each.name}</Link> },
    { name: "Type", width: "7.5rem", cell: (each) => each.disabled ? <StatusBadge status="disabled" /> : <span className="trigger-type">{each.type.replace("_", " ")}</span> },
    { name: "Fires", card: "wide", cell: (each) => <span className="given" title={whenOf(each)}>{whenOf(each)}</span> },
    { name: "Starts", width: "11%", cell: (each) => <Link href={`/definitions/${encodeURIComponent(each.start)}`} className="link given">{each.start}</Link> },
    { name: "Next", width: "8.5rem", card: "named", cell: (each) => <Next trigger={each} /> },
    { name: "Last", width: "11.5rem", card: "named", cell: (each) => <Last trigger={each} /> },
    ...(fire === null ? [] : [{ name: "Action", width: "5.5rem", end: true, cell: (each: Trigger) => <Button small aria-label={`Fire ${each.name}`} onClick={() => fire(each)}>Fire</Button> }]),
  ];
}

function Next({ trigger }: { readonly trigger: Trigger }): ReactNode {
  const now = useNow();
  if (trigger.next_at === null || trigger.disabled) return <span className="muted">{trigger.disabled ? "disabled" : "when it happens"}</span>;
  return <time dateTime={trigger.next_at} title={inZone(trigger.next_at, trigger.on["time_zone"])} className="numbers">{relative(trigger.next_at, now)}</time>;
}

function Last({ trigger }: { readonly trigger: Trigger }): ReactNode {
  const now = useNow();
  if (trigger.last === null) return <span className="muted">never</span>;
  const { at, run_id: run, code } = trigger.last;
  return (
    <span className="numbers">
      {`${relative(at, now)} `}
      {run !== null ? <Link href={`/runs/${run}`} className="link mono" title={run}>{`${run.slice(0, 7)}…`}</Link> : <StatusBadge plain status="refused" />}
      {run === null && code !== null && <span className="muted">{` ${code}`}</span>}
    </span>
  );
}
