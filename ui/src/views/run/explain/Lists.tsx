import { useState, type ReactNode } from "react";
import { Link } from "wouter";

import { count } from "../../../lib/numbers.ts";
import { coarse, exact, relative, useNow } from "../../../lib/time.ts";
import { Button } from "../../../parts/Button.tsx";
import { choosing, useHere } from "../here.ts";
import { alike, awaited, cancelledKey, fanInWords, manyOf, outcome, routingKey, stopped, verdict, type Cancelled, type Routing, type Wait } from "./words.ts";

const AT_ONCE = 20;

interface PagedProps<T> {
  readonly title: string;
  readonly items: readonly T[];
  readonly item: (item: T, index: number) => ReactNode;
}

/** A list that shows a few, and more when asked. */
function Paged<T>({ title, items, item }: PagedProps<T>): ReactNode {
  const [most, setMost] = useState(AT_ONCE);
  if (items.length === 0) return null;
  return (
    <section className="explain-part">
      <h3>{title}</h3>
      <ul aria-label={title}>{items.slice(0, most).map(item)}</ul>
      {items.length > most && <Button small variant="quiet" onClick={() => setMost(most + 5 * AT_ONCE)}>{`Show more of ${count(items.length)}`}</Button>}
    </section>
  );
}

/** Who or what is waited for, since when, and until when. */
export function WaitingList({ waits, run }: { readonly waits: readonly Wait[]; readonly run: string }): ReactNode {
  const now = useNow();
  const here = useHere();
  const groups = alike(waits, (wait) => `${wait.node} ${wait.kind} ${wait.kind === "gate" || wait.kind === "subworkflow" ? String(wait.token) : ""}`);
  return (
    <Paged
      title="Waiting for" items={groups}
      item={(group, index) => group[0] !== undefined && ((wait, more) => (
        <li key={index} className="given">
          <span>{awaited(wait)}</span>
          <div className="muted numbers">
            <Link className="link" href={here(choosing(wait.token))}>token {wait.token}</Link>
            {` at ${wait.node}${more > 0 ? ` and ${count(more)} more` : ""} · since ${coarse(now - new Date(wait.since).getTime())} · ${wait.due === null ? "no deadline" : `due ${relative(wait.due, now)}`}${wait.attempt > 1 ? ` · attempt ${String(wait.attempt)}` : ""}`}
          </div>
          {wait.fan_in !== null && <div className="muted">{fanInWords(wait.fan_in)}</div>}
          {wait.kind === "gate" && <Link className="link" href={`/gates?run=${run}`}>Answer…</Link>}
          {wait.child !== null && <Link className="link mono" href={`/runs/${wait.child}`}>{wait.child}</Link>}
        </li>
      ))(group[0], manyOf(group) - 1)}
    />
  );
}

interface ConsideredProps {
  readonly routings: readonly Routing[];
  /** Only this transition, and beside it those that decided about it. */
  readonly only?: number;
}

/** The transitions that were considered, newest first: the verdict, the condition, and the values that it read. */
export function ConsideredList({ routings, only }: ConsideredProps): ReactNode {
  const here = useHere();
  const groups = alike(routings.toReversed(), routingKey);
  const items = groups.flatMap((group) => {
    const [routing] = group;
    return (routing?.considered ?? []).map((seen) => ({ seen, routing: routing as Routing, many: manyOf(group) }));
  });
  return (
    <Paged
      title="Considered" items={items}
      item={({ seen, routing, many }, index) => (
        <li key={index} className={`given considered ${seen.verdict === "matched" ? "matched" : "refused"}${only === seen.transition ? " asked" : ""}`}>
          <span>{`→ ${seen.to}: ${verdict(seen)}`}</span>
          {seen.condition !== null && <div><code>if {seen.condition}</code></div>}
          <div className="muted numbers" title={exact(routing.at)}>
            <Link className="link" href={here(choosing(routing.token))}>token {routing.token}</Link>
            {` left ${routing.node} after ${routing.after}, `}
            <Link className="link" href={here({ at: String(routing.entry) })}>entry {routing.entry}</Link>
            {seen.verdict === "matched" && outcome(routing) !== "" && `: ${outcome(routing)}`}
            {many > 1 && `; ${count(many - 1)} more the same way`}
          </div>
        </li>
      )}
    />
  );
}

/** Tokens that were stopped, and by what. */
export function StoppedList({ cancelled }: { readonly cancelled: readonly Cancelled[] }): ReactNode {
  return <Paged title="Stopped" items={alike(cancelled, cancelledKey)} item={(group, index) => <li key={index} className="given" title={group[0] === undefined ? undefined : exact(group[0].at)}>{stopped(group)}</li>} />;
}
