import { keepPreviousData, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { Link } from "wouter";

import { useMay } from "../../frame/session.ts";
import { api, type AnswerOf, type Schemas } from "../../lib/api/client.ts";
import { command } from "../../lib/command.ts";
import { navigate } from "../../lib/location.ts";
import { ActionDialog } from "../../parts/ActionDialog.tsx";
import { Button } from "../../parts/Button.tsx";
import { Command } from "../../parts/Command.tsx";
import { DataTable, type Column } from "../../parts/DataTable.tsx";
import { JsonTree } from "../../parts/JsonTree.tsx";
import { Panel } from "../../parts/Panel.tsx";
import { ProblemAlert } from "../../parts/ProblemAlert.tsx";
import { StatusBadge } from "../../parts/StatusBadge.tsx";
import { Ago } from "../../parts/Time.tsx";
import { SkeletonRows } from "../../parts/Waiting.tsx";
import { CloseIcon } from "../../parts/icons.tsx";
import type { Trigger } from "./Triggers.tsx";
import { curlOf, inZone, whenOf } from "./words.ts";

type Firing = Schemas["FiringView"];

const COLUMNS: readonly Column<Firing>[] = [
  { name: "When", width: "8rem", cell: (each) => <Ago at={each.at} /> },
  { name: "Delivery", cell: (each) => <code className="given" title={each.delivery_id}>{each.delivery_id}</code> },
  { name: "Result", width: "8rem", cell: (each) => <StatusBadge plain status={each.run_id === null ? "refused" : "started"} /> },
  {
    name: "Run, or why not", card: "wide", cell: (each) => each.run_id !== null
      ? <Link href={`/runs/${each.run_id}`} className="link mono">{each.run_id}</Link>
      : <span className="given" title={each.problem ?? ""}><code>{each.code}</code> {each.problem}</span>,
  },
  { name: "Depth", width: "5rem", end: true, card: "hidden", cell: (each) => <span className="numbers">{each.depth}</span> },
];

/** One trigger: what it waits for, what it fired, and what can be done with it. */
export function OneTrigger({ trigger, onFire }: { readonly trigger: Trigger; readonly onFire: (() => void) | null }): ReactNode {
  const client = useQueryClient();
  const mayChange = useMay("admin");
  const [open, setOpen] = useState<"enable" | "disable" | "remove" | null>(null);
  const again = (): void => void client.invalidateQueries({ queryKey: ["triggers"] });
  const change = trigger.disabled ? "enable" : "disable";
  const Change = trigger.disabled ? "Enable" : "Disable";
  return (
    <Panel
      label={`Trigger ${trigger.name}`} className="one-trigger"
      head={<>
        <h2 className="given">{trigger.name}</h2>
        <span className="spring" />
        {onFire !== null && <Button small onClick={onFire}>Fire</Button>}
        {mayChange && <Button small onClick={() => setOpen(change)}>{`${Change} ${trigger.start}`}</Button>}
        {mayChange && <Button small onClick={() => setOpen("remove")}>{`Remove ${trigger.name}`}</Button>}
        <Button small square variant="quiet" aria-label="Close the trigger" onClick={() => navigate("/triggers")}><CloseIcon size={12} /></Button>
      </>}
    >
      <div className="panel-body trigger-facts">
        <Facts trigger={trigger} />
        <Firings name={trigger.name} last={trigger.last?.at ?? ""} />
      </div>
      {(open === "enable" || open === "disable") && (
        <ActionDialog
          title={`${Change} ${trigger.start}`} onClose={() => setOpen(null)} onDone={again}
          command={() => command("triggers", [], { [open]: trigger.start })}
          act={() => open === "enable" ? api.post("/v1/workflows/{workflow}/enable", { path: { workflow: trigger.start } }) : api.post("/v1/workflows/{workflow}/disable", { path: { workflow: trigger.start } })}
          done={() => `Triggers ${open === "enable" ? "start" : "do not start"} ${trigger.start} ${open === "enable" ? "again" : "any more"}`}
        >
          <p>{open === "enable" ? `Lets every trigger start ${trigger.start} again.` : `Keeps every trigger from starting ${trigger.start}: their deliveries are refused and recorded. It can still be started by name.`}</p>
        </ActionDialog>
      )}
      {open === "remove" && (
        <ActionDialog
          title={`Remove ${trigger.name}`} danger onClose={() => setOpen(null)} onDone={() => { again(); navigate("/triggers"); }}
          command={() => command("triggers", [], { remove: trigger.name })}
          act={() => api.delete("/v1/triggers/{trigger}", { path: { trigger: trigger.name } })} done={() => `The trigger ${trigger.name} is removed`}
        >
          <p>It fires no more. What it fired stays on record. If its file is deployed again with it, it comes back.</p>
        </ActionDialog>
      )}
    </Panel>
  );
}

function Facts({ trigger }: { readonly trigger: Trigger }): ReactNode {
  const times = trigger.upcoming;
  const zone = trigger.on["time_zone"];
  return (
    <>
      <dl className="pairs">
        <div><dt>Fires</dt><dd className="given">{whenOf(trigger)}</dd></div>
        <div><dt>Starts</dt><dd><Link href={`/definitions/${encodeURIComponent(trigger.start)}`} className="link given">{trigger.start}</Link></dd></div>
        {trigger.type === "schedule" && <div><dt>Next times</dt><dd>{trigger.disabled ? "none while it is disabled" : <ul className="numbers">{times.map((at) => <li key={at}><time dateTime={at}>{inZone(at, zone)}</time></li>)}</ul>}</dd></div>}
        <div><dt>Deployed from</dt><dd className="given"><code>{trigger.origin}</code></dd></div>
      </dl>
      {trigger.type === "webhook" && (
        <div>
          <p className="label">{trigger.on["secret"] === undefined ? "Anybody who can reach the server can fire it:" : `Signed with the secret ${JSON.stringify(trigger.on["secret"])}; put it into the variable of that name first:`}</p>
          <Command text={curlOf(trigger, window.location.origin)} />
        </div>
      )}
      {typeof trigger.on["schema"] === "object" && trigger.on["schema"] !== null && <JsonTree label="Schema of its payload" value={{ schema: trigger.on["schema"] }} />}
    </>
  );
}

function Firings({ name, last }: { readonly name: string; readonly last: string }): ReactNode {
  const query = useInfiniteQuery({
    queryKey: ["triggers", name, "firings", last], placeholderData: keepPreviousData,
    queryFn: ({ signal, pageParam }): Promise<AnswerOf<"/v1/triggers/{trigger}/firings", "get">> =>
      api.get("/v1/triggers/{trigger}/firings", { path: { trigger: name }, query: { after: pageParam, limit: 50 }, signal }),
    initialPageParam: "", getNextPageParam: (page) => page.next,
  });
  const rows = query.data?.pages.flatMap((page) => page.firings) ?? [];
  if (query.isError) return <ProblemAlert error={query.error} onRetry={() => void query.refetch()} />;
  if (query.data === undefined) return <SkeletonRows rows={3} label="Firings are loading" />;
  return (
    <div className="firings">
      <h3>Firings</h3>
      {rows.length === 0 ? <p className="muted">It has not fired yet. Each delivery is listed here with the run it started, or why it was refused.</p>
        : <DataTable label={`Firings of ${name}`} rows={rows} columns={COLUMNS} idOf={(each) => `${each.delivery_id} ${each.at}`} />}
      {query.hasNextPage && <div><Button small onClick={() => void query.fetchNextPage()}>Older firings</Button></div>}
    </div>
  );
}
