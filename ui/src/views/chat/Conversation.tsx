import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useLayoutEffect, useRef, useState, type KeyboardEvent, type ReactNode } from "react";

import { useMay, useSession } from "../../frame/session.ts";
import { api, type Schemas } from "../../lib/api/client.ts";
import { queries } from "../../lib/api/queries.ts";
import { command } from "../../lib/command.ts";
import { useDraft } from "../../lib/drafts.ts";
import { count } from "../../lib/numbers.ts";
import { useStream } from "../../lib/stream/hooks.ts";
import { ActionDialog } from "../../parts/ActionDialog.tsx";
import { Button } from "../../parts/Button.tsx";
import { ProblemAlert } from "../../parts/ProblemAlert.tsx";
import { StatusBadge } from "../../parts/StatusBadge.tsx";
import { SkeletonRows } from "../../parts/Waiting.tsx";
import { nameKept } from "../gates/answering.ts";
import { Turn } from "./Turn.tsx";
import { withDeltas, type Streaming } from "./streaming.ts";

type View = Schemas["ConversationView"];
const PAUSE = 150; // between two readings while a turn moves
const AT_ONCE = 50; // turns in the document

function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** One conversation: its messages as they come, and the field to say something. */
export function Conversation({ id }: { readonly id: string }): ReactNode {
  const client = useQueryClient();
  const { me } = useSession();
  const mayAnswer = useMay("answer");
  const key = ["conversations", "one", id];
  const query = useQuery({ queryKey: key, queryFn: ({ signal }) => api.get("/v1/conversations/{conversation}", { path: { conversation: id }, signal }) });
  const gates = useQuery(queries.gates());
  const [streaming, setStreaming] = useState<Streaming>(new Map());
  const [most, setMost] = useState(AT_ONCE);
  const [stopping, setStopping] = useState<number | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const again = useCallback(() => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      void client.invalidateQueries({ queryKey: ["conversations"] });
      void client.invalidateQueries({ queryKey: ["gates"] });
    }, PAUSE);
  }, [client]);
  useEffect(() => () => clearTimeout(timer.current), []);
  useStream({ conversation: id, after: "head" }, {
    events: again, gap: again, deltas: (deltas) => setStreaming((texts) => withDeltas(texts, deltas)),
    // what happened before the stream began is read once it has
    state: (state) => { if (state.kind === "live") again(); },
  });
  const turns = query.data?.turns ?? [];
  const active = turns.findLast((turn) => turn.status === "active");
  const open = (gates.data?.gates ?? []).filter((gate) => gate.run_id === id);
  if (query.isError) return <ProblemAlert error={query.error} onRetry={() => void query.refetch()} />;
  if (query.data === undefined) return <SkeletonRows rows={6} label="The conversation is loading" />;
  return (
    <>
      <div className="talk-head">
        <h2 className="given">{query.data.agent}</h2>
        <StatusBadge plain status={query.data.status} />
        <span className="spring" />
        <Budget view={query.data} />
        {active !== undefined && mayAnswer && <Button onClick={() => setStopping(active.id)}>Stop turn</Button>}
      </div>
      <Log follow={`${String(turns.length)} ${String(turns.at(-1)?.moves.length ?? 0)} ${String(streaming.size)} ${String(open.length)}`}>
        {turns.length > most && <li className="more"><Button small onClick={() => setMost(most + AT_ONCE)}>Earlier turns</Button></li>}
        {turns.slice(-most).map((turn) => <Turn key={turn.id} turn={turn} streaming={streaming} gates={open} by={me.person ?? nameKept()} onAnswered={again} />)}
        {turns.length === 0 && <li className="muted nothing-said">{`Nothing was said yet. ${query.data.agent} answers what you write.`}</li>}
      </Log>
      {mayAnswer ? <Composer id={id} ended={query.data.status === "completed" || query.data.status === "failed"} onSent={again} /> : <p className="muted">Your key may read this conversation, and not speak in it.</p>}
      {stopping !== null && (
        <ActionDialog
          title="Stop turn" hasReason danger onClose={() => setStopping(null)} onDone={again}
          command={(reason) => command("cancel", [id], { turn: stopping, reason })}
          act={(reason) => api.post("/v1/conversations/{conversation}/cancel", { path: { conversation: id }, body: { turn: stopping, reason } })} done={() => `Turn ${String(stopping)} is stopped`}
        >
          <p>{`Stops turn ${String(stopping)}: the answer being made is dropped, calls under way are cancelled, open approvals close. The conversation goes on.`}</p>
        </ActionDialog>
      )}
    </>
  );
}

/** The log: it stays at its end while you are there, and where you are while you read back. */
function Log({ follow, children }: { readonly follow: string; readonly children: ReactNode }): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  useLayoutEffect(() => {
    const log = box.current;
    if (log === null) return;
    const down = (): void => { if (atEnd.current) log.scrollTop = log.scrollHeight; };
    down();
    const inner = log.firstElementChild;
    if (inner === null) return;
    const watcher = new ResizeObserver(down);
    watcher.observe(inner);
    return () => watcher.disconnect();
  }, [follow]);
  return (
    <div role="log" aria-label="Messages" className="messages" tabIndex={0} ref={box} onScroll={(event) => { const log = event.currentTarget; atEnd.current = log.scrollHeight - log.scrollTop - log.clientHeight < 40; }}>
      <ol>{children}</ol>
    </div>
  );
}

/** What the conversation has used of its budget; without one, what it has used. */
function Budget({ view }: { readonly view: View }): ReactNode {
  const mayRead = useMay("read");
  const definition = useQuery({ ...queries.workflow(`agent:${view.agent}`), enabled: mayRead, staleTime: 60_000 });
  const used = view.turns.flatMap((turn) => turn.moves).reduce((sum, move) => sum + move.credits, 0);
  const library = definition.data?.definition as { agents?: Record<string, { persona?: string }>; personas?: Record<string, { budget?: { conversation?: number } }> } | undefined;
  const whole = library?.personas?.[library.agents?.[view.agent]?.persona ?? ""]?.budget?.conversation;
  if (whole === undefined) return used === 0 ? null : <span className="muted numbers">{`${count(used)} credits used`}</span>;
  return (
    <span className="budget">
      <span className="muted numbers">{`${count(used)} of ${count(whole)} credits`}</span>
      <span role="meter" aria-label="Budget used" aria-valuemin={0} aria-valuemax={whole} aria-valuenow={Math.min(used, whole)} className="budget-bar"><span style={{ width: `${String(Math.min(100, (used / Math.max(1, whole)) * 100))}%` }} className={used / Math.max(1, whole) > 0.9 ? "nearly" : undefined} /></span>
    </span>
  );
}

function Composer({ id, ended, onSent }: { readonly id: string; readonly ended: boolean; readonly onSent: () => void }): ReactNode {
  const [text, setText, forget] = useDraft(`chat:${id}`, "");
  const key = useRef(newKey());
  const send = useMutation({
    mutationFn: () => api.post("/v1/conversations/{conversation}/messages", { path: { conversation: id }, body: { text: text.trim(), key: key.current } }),
    onSuccess: () => {
      key.current = newKey(); // the same message sent again after a broken line is one message
      forget();
      onSent();
    },
  });
  const ready = text.trim() !== "" && !send.isPending && !ended;
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    if (ready) send.mutate();
  };
  return (
    <form className="composer" onSubmit={(event) => { event.preventDefault(); if (ready) send.mutate(); }}>
      {send.isError && <ProblemAlert error={send.error} />}
      <div className="composer-row">
        <textarea className="input" aria-label="Message" placeholder={ended ? "This conversation has ended." : "Write a message. Enter sends, Shift and Enter makes a new line."} rows={2} disabled={ended} value={text} onChange={(event) => setText(event.target.value)} onKeyDown={onKeyDown} />
        <Button type="submit" variant="primary" disabled={!ready}>Send</Button>
      </div>
    </form>
  );
}
