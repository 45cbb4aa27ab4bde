import { useQuery } from "@tanstack/react-query";
import { useMemo, type ReactNode } from "react";
import { Link } from "wouter";

import type { Schemas } from "../../../lib/api/client.ts";
import type { RunRecord } from "../../../lib/api/queries.ts";
import { navigate } from "../../../lib/location.ts";
import { DataTable, type Column } from "../../../parts/DataTable.tsx";
import { ProblemAlert } from "../../../parts/ProblemAlert.tsx";
import { StatusBadge } from "../../../parts/StatusBadge.tsx";
import { Clock, Lasted } from "../../../parts/Time.tsx";
import { SkeletonRows } from "../../../parts/Waiting.tsx";
import { reads } from "../reads.ts";
import { useTravelled } from "../store/hooks.ts";

export type Token = Schemas["TokenView"];

/** The status of a token in words that have a look: `waiting_for_gate` is `waiting for gate`. */
export function tokenStatus(token: Token): { status: string; words: string } {
  const words = token.status.replaceAll("_", " ");
  return { status: token.status.startsWith("waiting") ? "waiting" : token.status, words };
}

export function TokenBadge({ token }: { readonly token: Token }): ReactNode {
  const { status, words } = tokenStatus(token);
  return <span title={words}><StatusBadge plain status={status} />{words !== status && <span className="hidden">{words.slice(status.length)}</span>}</span>;
}

/** Every token the run ever had. */
export function Tokens({ record }: { readonly record: RunRecord }): ReactNode {
  const { settled } = useTravelled();
  const run = record.run_id;
  const { data, error, refetch } = useQuery(reads.tokens(run, settled));
  const columns = useMemo(() => columnsOf(run, settled), [run, settled]);
  if (data === undefined) return error === null ? <SkeletonRows rows={8} label="Tokens are loading" /> : <ProblemAlert error={error} onRetry={() => void refetch()} />;
  return <DataTable label="Tokens" rows={data} columns={columns} idOf={(token) => String(token.id)} onOpen={(token) => navigate(place(run, settled, token.id))} />;
}

function place(run: string, at: number | null, token: number): string {
  return `/runs/${run}?tab=explain${at === null ? "" : `&at=${String(at)}`}&token=${String(token)}`;
}

function columnsOf(run: string, at: number | null): Column<Token>[] {
  return [
    { name: "Token", width: "5rem", cell: (token) => <Link className="name link" href={place(run, at, token.id)}>{token.id}</Link> },
    { name: "Status", width: "9rem", cell: (token) => <TokenBadge token={token} /> },
    { name: "Node", width: "16%", cell: (token) => <span className="given">{token.node}</span> },
    { name: "Path", cell: (token) => <code className="given muted" title={token.path}>{token.path}</code> },
    { name: "What", card: "wide", cell: (token) => <What token={token} /> },
    { name: "Attempt", width: "5rem", end: true, card: "hidden", cell: (token) => <span className="numbers">{token.attempt}</span> },
    { name: "Loops", width: "4.5rem", end: true, card: "hidden", cell: (token) => <span className="numbers muted">{Object.values(token.loops).reduce((sum, each) => sum + each, 0) || ""}</span> },
    { name: "Created", width: "6.5rem", cell: (token) => <Clock at={token.created_at} /> },
    { name: "Lasted", width: "6rem", end: true, cell: (token) => <Lasted from={token.created_at} to={token.ended_at} /> },
  ];
}

function What({ token }: { readonly token: Token }): ReactNode {
  if (token.error !== null) return <span className="given" title={String(token.error["message"])}>{`${String(token.error["type"])}: ${String(token.error["message"])}`}</span>;
  if (token.child !== null) return <Link className="link mono" href={`/runs/${token.child}`}>{token.child}</Link>;
  const said = token.reason ?? (token.waits_at === null ? token.label : `siblings at ${token.waits_at}`);
  return <span className="given muted">{said}</span>;
}
