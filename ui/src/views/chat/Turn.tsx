import { memo, type ReactNode } from "react";
import { Link } from "wouter";

import { useMay } from "../../frame/session.ts";
import type { Schemas } from "../../lib/api/client.ts";
import type { Gate } from "../../lib/api/queries.ts";
import { count, counted } from "../../lib/numbers.ts";
import { JsonTree } from "../../parts/JsonTree.tsx";
import { StatusBadge } from "../../parts/StatusBadge.tsx";
import { Clock, Lasted } from "../../parts/Time.tsx";
import { Approval } from "../gates/Approval.tsx";
import { AnswerForm } from "../gates/GateCard.tsx";
import { toolOf } from "../gates/order.ts";
import { ModelText } from "./ModelText.tsx";
import { placeOf, type Streaming } from "./streaming.ts";

type TurnView = Schemas["TurnView"];
type Move = Schemas["MoveView"];
type Call = Schemas["ToolCallView"];

interface Props {
  readonly turn: TurnView;
  readonly streaming: Streaming;
  /** Open gates of this conversation. */
  readonly gates: readonly Gate[];
  readonly by: string;
  readonly onAnswered: (gate: Gate) => void;
}

/** One turn: what was said, the moves, the calls, and what it waits for. */
export const Turn = memo(function Turn({ turn, streaming, gates, by, onAnswered }: Props): ReactNode {
  const mine = gates.filter((gate) => turn.waiting_for.some((wait) => wait.gate === gate.id));
  const taken = new Set<string>();
  const gateOf = (call: Call): Gate | undefined => {
    if (isDone(call)) return undefined;
    const found = mine.find((gate) => !taken.has(gate.id) && toolOf(gate) === call.name && JSON.stringify(gate.input) === JSON.stringify(call.edited ?? call.input))
      ?? mine.find((gate) => !taken.has(gate.id) && toolOf(gate) === call.name);
    if (found !== undefined) taken.add(found.id);
    return found;
  };
  const cards = turn.moves.map((move) => move.tool_calls.map((call) => [call, gateOf(call)] as const));
  const coming = streaming.get(placeOf(turn.id, turn.moves.length)) ?? "";
  const user = (turn.caller as { user?: string | null }).user ?? null;
  const others = mine.filter((gate) => !taken.has(gate.id));
  return (
    <li className="turn">
      <div className="said">
        <p className="speaker">{user ?? "You"} {turn.began_at !== null && <Clock at={turn.began_at} />}</p>
        <p className="bubble given">{turn.message}</p>
        {turn.steered.map((text, at) => <p key={at} className="bubble given">{text}</p>)}
      </div>
      <div className="answers">
        <p className="speaker">{turn.agent} <TurnFacts turn={turn} /></p>
        {turn.moves.map((move, at) => (
          <div key={at} className="move">
            {move.text !== "" && <ModelText text={move.text} />}
            {move.interrupted && <p className="muted">Stopped before the answer was whole.</p>}
            {(cards[at] ?? []).map(([call, gate], index) => (
              <ToolCard key={`${call.id ?? ""} ${String(index)}`} call={call} move={move} turn={turn} gate={gate} by={by} onAnswered={onAnswered} />
            ))}
          </div>
        ))}
        {turn.status === "active" && coming !== "" && <div className="move coming"><ModelText text={coming} /></div>}
        {turn.status === "active" && coming === "" && mine.length === 0 && <p className="muted thinking" role="status">{turn.waiting_for.length > 0 ? `waits for ${waitWords(turn)}` : "thinks…"}</p>}
        {others.map((gate) => (
          <div key={gate.id} className="panel panel-body in-place">
            <h3 className="given">{gate.title}</h3>
            <AnswerForm gate={gate} by={by} onAnswered={() => onAnswered(gate)} />
          </div>
        ))}
        {turn.error !== null && <p className="turn-error given" role="alert"><StatusBadge plain status={turn.status} /> {turn.error.message === "" ? turn.error.type : turn.error.message}</p>}
      </div>
    </li>
  );
});

function waitWords(turn: TurnView): string {
  return turn.waiting_for.map((wait) => wait.title ?? (wait.kind === "run" ? `a run of ${wait.node.replace(/^tool:/, "")}` : `${wait.kind} ${wait.node.replace(/^tool:/, "")}`)).join(", ");
}

function TurnFacts({ turn }: { readonly turn: TurnView }): ReactNode {
  const credits = turn.moves.reduce((sum, move) => sum + move.credits, 0);
  const tokens = (turn.usage.input_tokens ?? 0) + (turn.usage.output_tokens ?? 0);
  return (
    <span className="turn-facts muted numbers">
      {turn.began_at !== null && turn.ended_at !== null && <Lasted from={turn.began_at} to={turn.ended_at} />}
      {turn.moves.length > 1 && <span>{counted(turn.moves.length, "move")}</span>}
      {tokens > 0 && <span>{counted(tokens, "token")}</span>}
      {credits > 0 && <span>{counted(credits, "credit")}</span>}
    </span>
  );
}

export function isDone(call: Call): boolean {
  return call.result !== undefined || (call.error !== undefined && call.error !== null);
}

function statusOf(call: Call, gate: Gate | undefined, turn: TurnView): string {
  if (call.error !== undefined && call.error !== null) return call.error.code === "REFUSED" ? "refused" : "failed";
  if (call.result !== undefined) return "done";
  if (gate !== undefined || turn.waiting_for.some((wait) => wait.node === `tool:${call.name}` && wait.kind === "gate")) return "waiting";
  return turn.status === "active" ? "running" : "stopped";
}

interface CardProps {
  readonly call: Call;
  readonly move: Move;
  readonly turn: TurnView;
  readonly gate: Gate | undefined;
  readonly by: string;
  readonly onAnswered: (gate: Gate) => void;
}

/** A tool call: its name and status, its arguments and result when opened, and its approval in place. */
function ToolCard({ call, move, turn, gate, by, onAnswered }: CardProps): ReactNode {
  const mayAnswer = useMay("answer");
  const mayRead = useMay("read");
  const status = statusOf(call, gate, turn);
  const run = turn.waiting_for.find((wait) => wait.kind === "run" && wait.node === `tool:${call.name}`)?.run;
  const data: Record<string, unknown> = { arguments: call.input };
  if (call.edited !== undefined && call.edited !== null) data["edited"] = call.edited;
  if (call.result !== undefined) data["result"] = call.result;
  if (call.later !== undefined) data["later"] = call.later;
  return (
    <article aria-label={`Tool ${call.name}`} className="tool panel">
      <details>
        <summary>
          <code className="given">{call.name}</code>
          <span className="tool-brief muted given">{brief(call.input)}</span>
          {move.credits > 0 && <span className="muted numbers tool-cost">{`${count(move.credits)} cr`}</span>}
          <StatusBadge plain status={status} />
        </summary>
        <JsonTree label={`Call of ${call.name}`} value={data} />
      </details>
      {call.error !== undefined && call.error !== null && <p className="tool-error given"><code>{call.error.code}</code> {call.error.message}</p>}
      {run !== undefined && run !== null && mayRead && <p className="tool-run"><Link href={`/runs/${run}`} className="link">Open the run it started</Link></p>}
      {gate !== undefined && (mayAnswer
        ? <div className="tool-approval"><h3 className="given">{gate.title}</h3><Approval gate={gate} by={by} agent={turn.agent} onAnswered={() => onAnswered(gate)} /></div>
        : <p className="muted tool-approval">It waits for approval. Your key may look at it, and not answer.</p>)}
    </article>
  );
}

function brief(value: unknown): string {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined || text === "{}") return "";
  return text.length > 90 ? `${text.slice(0, 90)}…` : text;
}
