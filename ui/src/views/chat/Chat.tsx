import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { Link, useParams } from "wouter";

import { useMay } from "../../frame/session.ts";
import { api, type AnswerOf } from "../../lib/api/client.ts";
import { navigate, useParameter } from "../../lib/location.ts";
import { counted } from "../../lib/numbers.ts";
import { relative, useNow } from "../../lib/time.ts";
import { Button } from "../../parts/Button.tsx";
import { Choice } from "../../parts/Field.tsx";
import { Boundary } from "../../parts/Panel.tsx";
import { ProblemAlert } from "../../parts/ProblemAlert.tsx";
import { StatusBadge } from "../../parts/StatusBadge.tsx";
import { Empty, SkeletonRows } from "../../parts/Waiting.tsx";
import { ChatIcon, PlusIcon } from "../../parts/icons.tsx";
import { Conversation } from "./Conversation.tsx";
import "./chat.css";

/** Conversations with agents: the list, and the one that is open. */
export default function Chat(): ReactNode {
  const { id } = useParams<{ id?: string }>();
  const [agent, setAgent] = useParameter("agent");
  const agents = useQuery({ queryKey: ["agents"], queryFn: ({ signal }) => api.get("/v1/agents", { signal }) });
  const names = agents.data?.agents ?? [];
  return (
    <>
      <div className="view-head">
        <h1>Chat</h1>
        {names.length > 0 && <Choice label="Agent" hideLabel value={agent} onChange={(event) => setAgent(event.target.value)} options={[["", "All agents"], ...names.map((name): [string, string] => [name, name])]} />}
        <Begin agents={agent === "" ? names : names.filter((name) => name === agent)} />
      </div>
      {agents.isError && <ProblemAlert error={agents.error} onRetry={() => void agents.refetch()} />}
      <div className={id === undefined ? "chat list-only" : "chat"}>
        <Conversations agent={agent} current={id} hasAgents={names.length > 0 || agents.data === undefined} />
        <section aria-label="Conversation" className="panel talk">
          {id === undefined ? <Empty icon={<ChatIcon />} title="Choose a conversation">Or begin a new one. What an agent says, the tools it calls and what it waits for are shown here as they happen.</Empty>
            : <Boundary resetKey={id}><Conversation key={id} id={id} /></Boundary>}
        </section>
      </div>
    </>
  );
}

function Begin({ agents }: { readonly agents: readonly string[] }): ReactNode {
  const client = useQueryClient();
  const mayTalk = useMay("answer");
  const [chosen, setChosen] = useState("");
  const agent = agents.includes(chosen) ? chosen : (agents[0] ?? "");
  const begin = useMutation({
    mutationFn: () => api.post("/v1/agents/{agent}/conversations", { path: { agent } }),
    onSuccess: (begun) => {
      void client.invalidateQueries({ queryKey: ["conversations"] });
      navigate(`/chat/${begun.conversation_id}`);
    },
  });
  if (!mayTalk || agents.length === 0) return null;
  return (
    <div className="begin">
      {agents.length > 1 && <Choice label="Talk to" hideLabel value={agent} onChange={(event) => setChosen(event.target.value)} options={agents.map((name): [string, string] => [name, `with ${name}`])} />}
      <Button variant="primary" disabled={begin.isPending} onClick={() => begin.mutate()}><PlusIcon size={14} /> New conversation</Button>
      {begin.isError && <ProblemAlert error={begin.error} />}
    </div>
  );
}

function Conversations({ agent, current, hasAgents }: { readonly agent: string; readonly current: string | undefined; readonly hasAgents: boolean }): ReactNode {
  const now = useNow();
  const query = useInfiniteQuery({
    queryKey: ["conversations", "list", agent],
    queryFn: ({ signal, pageParam }): Promise<AnswerOf<"/v1/conversations", "get">> => api.get("/v1/conversations", { query: { agent, after: pageParam, limit: 50 }, signal }),
    initialPageParam: "", getNextPageParam: (page) => page.next,
  });
  const rows = query.data?.pages.flatMap((page) => page.conversations) ?? [];
  const grouped = [...Map.groupBy(rows, (row) => row.agent)];
  const search = agent === "" ? "" : `?agent=${encodeURIComponent(agent)}`;
  return (
    <nav aria-label="All conversations" className="panel conversations">
      {query.isError && <ProblemAlert error={query.error} onRetry={() => void query.refetch()} />}
      {query.data === undefined && !query.isError && <SkeletonRows rows={4} label="Conversations are loading" />}
      {query.data !== undefined && rows.length === 0 && <p className="muted nothing-said">{hasAgents ? "No conversations yet. Begin one above." : "No agent is deployed. Agents are written in a file: docs/agents.md has one to begin with."}</p>}
      <ul aria-label="Conversations">
        {grouped.flatMap(([name, each]) => each.map((row, at) => (
          <li key={row.id}>
            {at === 0 && <p className="agent-name given" aria-hidden="true">{name}</p>}
            <Link href={`/chat/${row.id}${search}`} className="conversation" aria-current={row.id === current ? "page" : undefined}>
              <span className="hidden">{`${name} `}</span>
              <span className="numbers">{relative(row.since, now)}</span>
              <StatusBadge plain status={row.status} />
              <span className="muted numbers">{`${counted(row.turns, "turn")} · `}<span className="mono">{row.id.slice(0, 9)}…</span></span>
            </Link>
          </li>
        )))}
      </ul>
      {query.hasNextPage && <Button small variant="quiet" onClick={() => void query.fetchNextPage()}>Older conversations</Button>}
    </nav>
  );
}
