import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState, type ReactNode } from "react";
import { Link } from "wouter";

import { useMay } from "../../frame/session.ts";
import { api, type Schemas } from "../../lib/api/client.ts";
import { command } from "../../lib/command.ts";
import { useParameter } from "../../lib/location.ts";
import { count, counted } from "../../lib/numbers.ts";
import { useNow } from "../../lib/time.ts";
import { ActionDialog } from "../../parts/ActionDialog.tsx";
import { Button } from "../../parts/Button.tsx";
import { Chart } from "../../parts/Chart.tsx";
import { DataTable, type Column } from "../../parts/DataTable.tsx";
import { Choice, TextField } from "../../parts/Field.tsx";
import { Panel } from "../../parts/Panel.tsx";
import { ProblemAlert } from "../../parts/ProblemAlert.tsx";
import { Empty, SkeletonRows } from "../../parts/Waiting.tsx";
import { PlusIcon, UsageIcon } from "../../parts/icons.tsx";
import { DAY, byDay, dryIn } from "./days.ts";
import "../store/tiles.css";
import "./usage.css";

type Row = Schemas["UsageRow"];
type By = "day" | "workflow" | "node" | "profile";
const RANGES: readonly (readonly [string, string])[] = [["7", "7 days"], ["", "30 days"], ["90", "90 days"], ["365", "A year"]];

function useUsage(by: By, since: string) {
  return useQuery({
    queryKey: ["usage", by, since], placeholderData: keepPreviousData, refetchInterval: 30_000,
    queryFn: ({ signal }) => api.get("/v1/usage", { query: { by, since }, signal }),
  });
}

/** Credits and model tokens: by day, workflow, node and profile; and how long the balance lasts. */
export default function Usage(): ReactNode {
  const [range, setRange] = useParameter("days");
  const days = Number(range === "" ? "30" : range) || 30;
  const today = Math.floor(useNow() / DAY) * DAY;
  const since = new Date(today - (days - 1) * DAY).toISOString();
  const perDay = useUsage("day", since);
  const rows = useMemo(() => byDay(perDay.data?.usage ?? [], today, days), [perDay.data, today, days]);
  const nothing = perDay.data?.usage.length === 0;
  return (
    <>
      <div className="view-head">
        <h1>Usage</h1>
        <Choice label="Time" hideLabel value={range} onChange={(event) => setRange(event.target.value)} options={RANGES} />
      </div>
      {perDay.isError && <ProblemAlert error={perDay.error} onRetry={() => void perDay.refetch()} />}
      <div className="usage">
        <Account rows={rows} />
        {perDay.isPending && <Panel label="Usage"><SkeletonRows rows={6} label="Usage is loading" /></Panel>}
        {nothing && (
          <Panel label="Nothing used">
            <Empty icon={<UsageIcon />} title="Nothing was used in this time" command={`jeton credits --url ${window.location.origin}`}>
              Once a project has a balance or prices, or an agent calls a model, credits and tokens are counted here by day, workflow, node and profile.
            </Empty>
          </Panel>
        )}
        {rows.length > 0 && <Days rows={rows} shown={!nothing} />}
        <Table by="workflow" title="By workflow" since={since} />
        <Table by="node" title="By node" since={since} />
        <Table by="profile" title="By model profile" since={since} />
      </div>
    </>
  );
}

function Days({ rows, shown }: { readonly rows: ReturnType<typeof byDay>; readonly shown: boolean }): ReactNode {
  const times = useMemo(() => rows.map((row) => row.at / 1000), [rows]);
  const credits = useMemo(() => [
    { label: "Credits", colour: "accent-ink", values: rows.map((row) => row.credits) }, { label: "Shortfall", colour: "failed", values: rows.map((row) => row.shortfall) },
  ], [rows]);
  const tokens = useMemo(() => [
    { label: "Input", colour: "running", values: rows.map((row) => row.input_tokens) }, { label: "Output", colour: "exhausted", values: rows.map((row) => row.output_tokens) },
  ], [rows]);
  const listed = rows.filter((row) => row.credits + row.shortfall + row.input_tokens + row.output_tokens > 0).toReversed();
  if (!shown) return null;
  return (
    <>
      <Panel label="Credits" head={<><h2>Credits by day</h2><Legend of={credits} /></>}><div className="panel-body"><Chart label="Credits by day" height={180} times={times} series={credits} kind="bars" /></div></Panel>
      <Panel label="Model tokens" head={<><h2>Model tokens by day</h2><Legend of={tokens} /></>}><div className="panel-body"><Chart label="Model tokens by day" height={180} times={times} series={tokens} kind="bars" /></div></Panel>
      <Panel label="By day" head={<h2>By day</h2>} className="wide-panel">
        <DataTable label="Usage by day" rows={listed} idOf={(row) => row.day ?? ""} columns={columnsOf("Day", (row) => <span className="numbers">{row.day}</span>)} />
      </Panel>
    </>
  );
}

function Legend({ of }: { readonly of: readonly { label: string; colour: string }[] }): ReactNode {
  return <ul className="legend">{of.map((each) => <li key={each.label}><span className="swatch" style={{ background: `var(--${each.colour})` }} />{each.label.toLowerCase()}</li>)}</ul>;
}

function columnsOf(name: string, cell: (row: Row) => ReactNode): Column<Row>[] {
  const number = (value: number): ReactNode => <span className={value === 0 ? "numbers muted" : "numbers"}>{count(value)}</span>;
  return [
    { name, cell },
    { name: "Credits", width: "6rem", end: true, cell: (row) => number(row.credits) },
    { name: "Shortfall", width: "5.5rem", end: true, card: "hidden", cell: (row) => number(row.shortfall) },
    { name: "Input", width: "4.5rem", end: true, card: "hidden", cell: (row) => number(row.input_tokens) },
    { name: "Output", width: "4.75rem", end: true, card: "hidden", cell: (row) => number(row.output_tokens) },
  ];
}

const PLACES: Readonly<Record<Exclude<By, "day">, (row: Row) => ReactNode>> = {
  workflow: (row) => <Link href={`/definitions/${encodeURIComponent(row.workflow ?? "")}`} className="link given">{row.workflow}</Link>,
  node: (row) => <span className="given"><span className="muted">{row.workflow} › </span>{row.node}</span>,
  profile: (row) => <span className="given">{row.profile}</span>,
};

function Table({ by, title, since }: { readonly by: Exclude<By, "day">; readonly title: string; readonly since: string }): ReactNode {
  const { data, error, refetch } = useUsage(by, since);
  if (error !== null) return <Panel label={title} head={<h2>{title}</h2>}><ProblemAlert error={error} onRetry={() => void refetch()} /></Panel>;
  if (data === undefined || data.usage.length === 0) return null;
  const rows = data.usage.toSorted((a, b) => b.credits - a.credits || b.input_tokens - a.input_tokens);
  return (
    <Panel label={title} head={<h2>{title}</h2>}>
      <DataTable label={`Usage ${title.charAt(0).toLowerCase()}${title.slice(1)}`} rows={rows} columns={columnsOf(title.slice(3).replace(/^./, (letter) => letter.toUpperCase()), PLACES[by])} idOf={(row) => `${row.workflow ?? ""}\0${row.node ?? ""}\0${row.profile ?? ""}`} />
    </Panel>
  );
}

function Account({ rows }: { readonly rows: ReturnType<typeof byDay> }): ReactNode {
  const client = useQueryClient();
  const mayTopUp = useMay("admin");
  const { data } = useQuery({ queryKey: ["credits"], queryFn: ({ signal }) => api.get("/v1/credits", { signal }), refetchInterval: 30_000 });
  const [adding, setAdding] = useState(false);
  const [amount, setAmount] = useState("100");
  const whole = /^[1-9]\d{0,14}$/.test(amount);
  const used = rows.reduce((sum, row) => sum + row.credits, 0);
  const balance = data?.balance ?? null;
  const dry = balance === null ? null : dryIn(balance, rows);
  return (
    <Panel label="Account" className="account">
      <dl className="tiles panel-body">
        <div className="tile"><dt>Balance</dt><dd className="large numbers">{data === undefined ? "…" : balance === null ? "no account" : count(balance)}</dd></div>
        <div className="tile"><dt>Held for open runs</dt><dd className="large numbers">{data === undefined ? "…" : count(data.granted)}</dd></div>
        <div className="tile"><dt>Used in this time</dt><dd className="large numbers">{count(used)}</dd></div>
        <div className="tile"><dt>At this pace</dt><dd className={dry !== null && dry < 7 ? "large bad-ink" : "large"}>{balance === null ? "no limit" : dry === null ? "does not run dry" : dry < 1 ? "dry within a day" : `dry in ${counted(Math.floor(dry), "day")}`}</dd></div>
      </dl>
      {mayTopUp && balance !== null && <div className="panel-body top-up"><Button onClick={() => setAdding(true)}><PlusIcon size={14} /> Top up</Button></div>}
      {adding && (
        <ActionDialog
          title="Top up" onClose={() => setAdding(false)} blocked={!whole} command={() => command("credits", [], { "top-up": amount })}
          act={() => api.post("/v1/credits/top-up", { body: { amount: Number(amount) } })} done={(found) => `The balance is ${count(found.balance ?? 0)}`}
          onDone={() => void client.invalidateQueries({ queryKey: ["credits"] })}
        >
          <TextField label="Amount" inputMode="numeric" value={amount} onChange={(event) => setAmount(event.target.value)} hint="Whole credits, added to the project’s account." refused={whole ? undefined : "a whole number above 0 is needed"} />
        </ActionDialog>
      )}
    </Panel>
  );
}
