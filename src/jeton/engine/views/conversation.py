"""A conversation as people read it: its turns, with their moves, tool calls and replies, from its journal."""

from collections.abc import Iterable
from datetime import datetime
from typing import Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from jeton.model import decision as d
from jeton.model.chat import Attachment, TokenUsage, ToolError, ToolResult
from jeton.model.definition.agent import agent_of
from jeton.model.definition.profile import whole_credits
from jeton.model.entry import Entry
from jeton.model.ids import RunId, gate_id
from jeton.model.json import Json, JsonObject
from jeton.model.state.phase import WaitingForAgent, WaitingForGate, WaitingForSubworkflow
from jeton.model.state.run import RunState, RunStatus
from jeton.model.state.talk import Caller, Said, TurnError, TurnStatus, place_of
from jeton.model.times import moment

ConversationStatus: TypeAlias = Literal["active", "waiting", "completed", "failed"]


class ToolCallView(msgspec.Struct, omit_defaults=True):
    """A tool call: its input, and its result or error. `later`: what an async call gave after it was acknowledged."""

    name: str
    input: Json = None
    result: Json | UnsetType = UNSET
    error: ToolError | None = None
    edited: Json = None
    later: Json | UnsetType = UNSET
    id: str = ""


class MoveView(msgspec.Struct):
    """One answer of the model."""

    text: str
    model: str
    usage: TokenUsage
    tool_calls: list[ToolCallView]
    credits: int = 0  # what it cost, by the prices of the model profile, rounded up
    interrupted: bool = False  # the turn was stopped before the answer was whole


class WaitView(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a turn waits for: an approval, a run, another agent, or a worker."""

    kind: Literal["gate", "run", "agent", "worker"]
    node: str
    gate: str | None = None
    title: str | None = None
    run: RunId | None = None


class TurnView(msgspec.Struct):
    """A turn: who asked, what was said, and what came of it."""

    id: int
    agent: str
    caller: JsonObject
    message: str
    attachments: tuple[Attachment, ...]
    status: TurnStatus
    phase: str
    error: TurnError | None
    issues: JsonObject
    replies: list[str]
    usage: TokenUsage
    waiting_for: list[WaitView]
    moves: list[MoveView]
    began_at: datetime | None = None
    ended_at: datetime | None = None
    steered: list[str] = msgspec.field(default_factory=list[str])  # chat messages that came while it moved


class ConversationView(msgspec.Struct):
    """A conversation with its turns."""

    conversation_id: RunId
    agent: str
    status: ConversationStatus
    turns: list[TurnView]


class ConversationRow(msgspec.Struct, frozen=True):
    """A conversation as lists show it."""

    id: RunId
    agent: str
    status: ConversationStatus
    turns: int
    since: datetime


def conversation_status(status: RunStatus) -> ConversationStatus:
    """The status of a conversation whose actor has this one."""
    match status:
        case "submitted" | "running":
            return "active"
        case "waiting":
            return "waiting"
        case "completed" | "cancelled":
            return "completed"
        case "failed" | "timed_out" | "exhausted":
            return "failed"


def conversation_view(
    run: RunId, workflow: str, status: RunStatus, entries: Iterable[Entry], state: RunState | None
) -> ConversationView:
    """The whole conversation. `state`: as it is now, for what turns wait for."""
    table = ConversationTable()
    for entry in entries:
        table.take(entry)
    if state is not None and state.has_talk:
        table.add_waits(run, state)
    return ConversationView(
        run, agent_of(workflow) or workflow, conversation_status(status), list(table.turns.values())
    )


class ConversationTable:
    """The turns, updated decision by decision."""

    def __init__(self) -> None:
        self.turns: dict[int, TurnView] = {}
        self._spent: dict[int, int] = {}  # by turn: millionths of a credit since its last move

    def take(self, entry: Entry) -> None:
        """Apply one journal entry."""
        for decision in entry.decisions:
            if isinstance(decision, d.EndRun):
                self._end_all(decision)
            turn = getattr(decision, "turn", None)
            if isinstance(decision, d.AddTurn) or turn in self.turns:  # others began before the first entry
                self._fold(decision, entry.at)

    def _fold(self, decision: d.Decision, at: int) -> None:
        match decision:
            case d.AddTurn():
                self._add(decision)
            case d.BeginTurn(turn, began):
                self.turns[turn].phase, self.turns[turn].began_at = "assembling", moment(began)
            case d.PrepareTurn(turn) | d.AskModel(turn):
                self.turns[turn].phase = "deciding"
            case d.SpendBudget(turn, millionths, upkeep=False):
                self._spent[turn] = self._spent.get(turn, 0) + millionths
            case d.AddMove():
                self._move(decision)
            case d.SteerTurn(turn, said):
                self.turns[turn].steered.append(said.text)
            case d.AnswerCall(turn, move, call, result):
                _answer(self._call(turn, move, call), result.result)
                self._call(turn, move, call).edited = result.edited
                self._count_failure(turn, result.result)
            case d.StartAsync(turn, move, call):
                shown = self._call(turn, move, call)
                shown.result = {"status": "started", "call": shown.id}
            case d.KeepAsync(turn, move, call, result):
                later = result.result
                self._call(turn, move, call).later = later.result if later.error is None else _plain(later.error)
                self._count_failure(turn, later)
            case d.LingerTurn(turn):
                self.turns[turn].phase = "lingering"
            case d.ExtractTurn(turn):
                self.turns[turn].phase = "extracting"
            case d.FlagTurn(turn, issue, value):
                self.turns[turn].issues = {**self.turns[turn].issues, issue: value}
            case d.EndTurn():
                self._end(decision, at)
            case _:
                pass

    def _add(self, decision: d.AddTurn) -> None:
        said: Said = decision.given.said
        self.turns[decision.turn] = TurnView(
            id=decision.turn,
            agent=decision.agent,
            caller=caller_json(decision.caller),
            message=said.text,
            attachments=said.attachments,
            status="active",
            phase="queued",
            error=None,
            issues={},
            replies=[],
            usage=TokenUsage(),
            waiting_for=[],
            moves=[],
        )

    def _move(self, decision: d.AddMove) -> None:
        turn, move = self.turns[decision.turn], decision.move
        calls = [
            ToolCallView(call.name, call.input if call.raw is None else call.raw, id=call.id) for call in move.calls
        ]
        if not move.interrupted or move.text:
            credits = whole_credits(self._spent.pop(turn.id, 0))
            turn.moves.append(MoveView(move.text, move.profile, move.usage, calls, credits, move.interrupted))
        turn.phase = "executing"
        if move.text:
            turn.replies.append(move.text)
        turn.usage = TokenUsage(
            turn.usage.input_tokens + move.usage.input_tokens, turn.usage.output_tokens + move.usage.output_tokens
        )

    def _call(self, turn: int, move: int, call: int) -> ToolCallView:
        return self.turns[turn].moves[move].tool_calls[call]

    def _count_failure(self, turn: int, result: ToolResult) -> None:
        if result.error is not None:
            issues = self.turns[turn].issues
            count = issues.get("tool_failures", 0)
            self.turns[turn].issues = {**issues, "tool_failures": (count if isinstance(count, int) else 0) + 1}

    def _end(self, decision: d.EndTurn, at: int) -> None:
        turn = self.turns[decision.turn]
        turn.status, turn.error, turn.phase, turn.ended_at = decision.status, decision.error, "ended", moment(at)

    def _end_all(self, end: d.EndRun) -> None:
        """End the turns of a conversation that came to a contradiction."""
        error = None if end.error is None else TurnError(end.error.type, end.error.message)
        for turn in self.turns.values():
            if turn.phase != "ended":
                self._end(d.EndTurn(turn.id, end.at, "failed", error), end.at)

    def add_waits(self, run: RunId, state: RunState) -> None:
        """What the turns wait for now."""
        for token in state.tokens.values():
            turn = self.turns.get(place_of(token.path)[0])
            if turn is None or token.node.startswith("timeout"):
                continue
            match token.phase:
                case WaitingForGate(title=title):
                    turn.waiting_for.append(WaitView("gate", token.node, gate_id(run, token.id), title))
                case WaitingForSubworkflow(child=child):
                    turn.waiting_for.append(WaitView("run", token.node, run=child))
                case WaitingForAgent(conversation=conversation):
                    turn.waiting_for.append(WaitView("agent", token.node, run=conversation))
                case _:
                    turn.waiting_for.append(WaitView("worker", token.node))


def _answer(call: ToolCallView, result: ToolResult) -> None:
    if result.error is not None:
        call.error, call.result = result.error, UNSET
    else:
        call.result = result.result


def _plain(error: ToolError) -> Json:
    shown: Json = msgspec.to_builtins(error)
    return {"error": shown}


def caller_json(caller: Caller) -> JsonObject:
    """Who asked for a turn."""
    if caller.agent is not None:
        return {"type": "agent", "agent": caller.agent, "turn": caller.turn, "conversation_id": caller.run}
    if caller.run is not None:
        return {"type": "run", "run_id": caller.run}
    return {"type": "user", "user": caller.user}
