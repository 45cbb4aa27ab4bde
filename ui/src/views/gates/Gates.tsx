import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState, type ReactNode } from "react";

import { useMay, useSession } from "../../frame/session.ts";
import { queries, type Gate } from "../../lib/api/queries.ts";
import { useParameters } from "../../lib/location.ts";
import { count } from "../../lib/numbers.ts";
import { useShortcuts } from "../../lib/shortcuts.ts";
import { useNow } from "../../lib/time.ts";
import { Button } from "../../parts/Button.tsx";
import { Choice } from "../../parts/Field.tsx";
import { Boundary } from "../../parts/Panel.tsx";
import { ProblemAlert } from "../../parts/ProblemAlert.tsx";
import { Empty, SkeletonRows } from "../../parts/Waiting.tsx";
import { GatesIcon, SearchIcon } from "../../parts/icons.tsx";
import { GateCard } from "./GateCard.tsx";
import { keepName, nameKept } from "./answering.ts";
import { inOrder, isMine, matches } from "./order.ts";
import "./gates.css";

const AT_ONCE = 20; // forms; more when asked for

function cards(list: HTMLElement | null): HTMLElement[] {
  return [...(list?.querySelectorAll<HTMLElement>("[data-gate]") ?? [])];
}

/** All open gates: what waits for people, and the forms to answer. */
export default function Gates(): ReactNode {
  const { me } = useSession();
  const [parameters, set] = useParameters();
  const [typed, setTyped] = useState(nameKept);
  const by = me.person ?? typed;
  const { data, isPending, error, refetch } = useQuery(queries.gates());
  const minute = Math.floor(useNow() / 60_000) * 60_000;
  const [most, setMost] = useState(AT_ONCE);
  const [answered, setAnswered] = useState("");
  const list = useRef<HTMLUListElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const focusAt = useRef<number | null>(null);
  const q = parameters.get("q") ?? "";
  const mine = parameters.get("show") === "mine";
  const wanted = parameters.get("gate");
  const all = data?.gates ?? [];
  const shown = inOrder(all.filter((gate) => (!mine || isMine(gate, by)) && (q === "" || matches(gate, q))), minute);

  useEffect(() => {
    // after an answer the next gate has the focus; it takes the place of the one that went
    if (focusAt.current === null) return;
    const found = cards(list.current);
    const next = found[Math.min(focusAt.current, found.length - 1)];
    focusAt.current = null;
    next?.focus({ preventScroll: true });
    next?.scrollIntoView({ block: "nearest" });
  }, [data]);
  const ready = data !== undefined;
  useEffect(() => {
    if (wanted === null || !ready) return;
    const found = list.current?.querySelector<HTMLElement>(`[data-gate="${CSS.escape(wanted)}"]`);
    found?.focus({ preventScroll: true });
    found?.scrollIntoView({ block: "start" });
  }, [wanted, ready]);

  const step = (by: number): void => {
    const found = cards(list.current);
    const at = found.findIndex((card) => card.contains(document.activeElement));
    const next = found[Math.min(found.length - 1, Math.max(0, at < 0 ? 0 : at + by))];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  };
  useShortcuts("Gates", [
    { keys: "/", label: "Search gates", run: () => field.current?.focus() },
    { keys: "j", label: "Next gate", run: () => step(1) },
    { keys: "k", label: "Previous gate", run: () => step(-1) },
    { keys: "Enter", label: "Answer the gate", run: () => document.activeElement?.querySelector<HTMLElement>("form input, form select, form textarea, form button")?.focus() },
  ]);
  const onAnswered = (gate: Gate, outcome: string): void => {
    focusAt.current = cards(list.current).findIndex((card) => card.dataset["gate"] === gate.id);
    const left = gate.answers + 1 < gate.approvals ? `${String(gate.approvals - gate.answers - 1)} more needed` : outcome === "sent" ? "the run is told when the store has an owner" : "the run goes on";
    setAnswered(`“${gate.title}” is answered: ${left}.`);
  };
  return (
    <div className="gates">
      <div className="view-head">
        <h1>Gates</h1>
        <span className="open-count numbers muted">{data === undefined ? "" : `${count(all.length)} open`}</span>
        <Choice label="Show" hideLabel value={mine ? "mine" : ""} onChange={(event) => set({ show: event.target.value })} options={[["", "Everybody’s"], ["mine", "Mine"]]} />
        <div className="search">
          <SearchIcon size={14} />
          <input ref={field} type="search" className="input" aria-label="Search gates" placeholder="Search gates" value={q} onChange={(event) => set({ q: event.target.value })} />
        </div>
        <AnswerAs person={me.person} typed={typed} onType={(name) => { setTyped(name); keepName(name); }} />
      </div>
      <p role="status" aria-label="Answered" className={answered === "" ? "answered nothing" : "answered given"}>{answered}</p>
      {error !== null && <ProblemAlert error={error} onRetry={() => void refetch()} />}
      {isPending && <div className="panel"><SkeletonRows rows={6} label="Gates are loading" /></div>}
      {data !== undefined && shown.length === 0 && <Nothing filtered={all.length > 0} onAll={() => set({ q: null, show: null })} />}
      <ul ref={list} aria-label="Open gates" className="gate-list">
        {shown.slice(0, most).map((gate) => <li key={gate.id}><Boundary><GateCard gate={gate} by={by} onAnswered={onAnswered} /></Boundary></li>)}
      </ul>
      {shown.length > most && <div className="more"><Button onClick={() => setMost(most + AT_ONCE)}>{`Show more: ${count(shown.length - most)} left`}</Button></div>}
    </div>
  );
}

function AnswerAs({ person, typed, onType }: { readonly person: string | null; readonly typed: string; readonly onType: (name: string) => void }): ReactNode {
  const mayAnswer = useMay("answer");
  if (!mayAnswer) return null;
  if (person !== null) return <span className="answer-as muted">Answer as <strong className="given">{person}</strong></span>;
  return (
    <label className="answer-as muted">
      <span>Answer as</span>
      <input className="input" value={typed} placeholder="anyone" autoComplete="off" maxLength={200} onChange={(event) => onType(event.target.value)} />
    </label>
  );
}

function Nothing({ filtered, onAll }: { readonly filtered: boolean; readonly onAll: () => void }): ReactNode {
  if (filtered) return <div className="panel"><Empty icon={<SearchIcon />} title="No gate matches" action={<Button onClick={onAll}>Show all gates</Button>}>There are open gates, and none of them fits what was chosen.</Empty></div>;
  return (
    <div className="panel">
      <Empty icon={<GatesIcon />} title="Nothing waits for you" command={`jeton gates --url ${window.location.origin}`}>
        When a run reaches a gate, or an agent wants to call a tool that needs approval, the question is here with a form to answer it.
      </Empty>
    </div>
  );
}
