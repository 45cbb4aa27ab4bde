"""The spans of a conversation: turns, model calls and tool calls."""

from collections.abc import Iterator

import msgspec

from jeton.model import decision as d
from jeton.model.chat import ToolCall, ToolResult
from jeton.model.json import Json
from jeton.model.state.talk import Caller, CallId, Move, place_of
from jeton.telemetry import names
from jeton.telemetry.draft import Draft, TokenDraft
from jeton.telemetry.facts import RunFacts, model_attributes
from jeton.telemetry.span import AttributeValue, Link, root_of, span_id_of, trace_id_of

UNSEEN = ("timeout",)  # kinds of tokens that are no work


class TurnSpans:
    """Names the tokens of a conversation after what they do, and makes a span of every turn."""

    def __init__(self, facts: RunFacts) -> None:
        self._facts = facts
        self._turns: dict[int, Draft] = {}
        self._agents: dict[int, str] = {}
        self._models: dict[int, TokenDraft] = {}  # by turn: its last model call
        self._tools: dict[CallId, TokenDraft] = {}
        self._calls: dict[CallId, ToolCall] = {}  # of moves whose calls have no token yet

    def turn_span(self, turn: int) -> str:
        """The id of the span of a turn."""
        return span_id_of(self._facts.run, "turn", turn)

    def name(self, token: TokenDraft) -> bool:
        """Make a new token the span of its call. Returns False if it is not to be seen."""
        turn, move, call = place_of(token.path)
        kind, _, rest = token.node.partition(":")
        if kind in UNSEEN:
            return False
        token.parent_id, token.name = self.turn_span(turn), kind
        token.attributes.update(self._common(turn))
        if kind == "model":
            token.name, token.client = names.CHAT, True
            token.attributes[names.OPERATION] = names.CHAT
            self._models[turn] = token
        elif kind == "tool" and move is not None and call is not None:
            token.name = f"{names.EXECUTE_TOOL} {rest}"
            token.attributes |= {names.OPERATION: names.EXECUTE_TOOL, names.TOOL: rest, names.TOOL_TYPE: "function"}
            token.attributes[names.MOVE] = move
            token.works = True  # also if it is refused or stopped before anything was called
            self._tools[turn, move, call] = token
            made = self._calls.pop((turn, move, call), None)
            if made is not None:
                token.attributes |= self._told(made)
        return True

    def begin(self, token: TokenDraft) -> None:
        """Let a turn begin with its first call at the latest: messages of one batch may be a little out of order."""
        turn = self._turns.get(place_of(token.path)[0])
        if turn is not None:
            turn.start_ms = min(turn.start_ms, token.start_ms)

    def _common(self, turn: int) -> dict[str, AttributeValue]:
        found: dict[str, AttributeValue] = {names.CONVERSATION: self._facts.run, names.TURN: turn}
        return {**found, names.AGENT: self._agents[turn]} if turn in self._agents else found

    def fold(self, decision: d.Decision, at: int) -> Iterator[tuple[Draft, int]]:
        """Take a decision. Gives spans that end with it, and when."""
        match decision:
            case d.AddTurn(turn, agent, caller, given):
                self._add(turn, agent, caller, given.said.text, at)
            case d.BeginTurn(turn, began, version) if turn in self._turns:
                self._turns[turn].start_ms = began
                self._turns[turn].attributes[names.AGENT_VERSION] = str(version)
            case d.AddMove(turn, number, move):
                self._answered(turn, number, move)
            case d.AnswerCall(turn, move, call, result) | d.KeepAsync(turn, move, call, result):
                yield from self._called((turn, move, call), result.result, at)
            case d.EndTurn(turn, ended, status, error):
                if turn in self._turns:
                    draft = self._turns.pop(turn)
                    draft.attributes[names.STATUS] = status
                    if status != "completed":
                        draft.fail(status if error is None else error.type, "" if error is None else error.message)
                    yield draft, ended
                self._forget(turn)
            case d.ForkHistory(turn=first) if first is not None:
                for turn in [each for each in self._agents if each >= first]:
                    self._turns.pop(turn, None)
                    self._forget(turn)
            case _:
                pass

    def _add(self, turn: int, agent: str, caller: Caller, text: str, at: int) -> None:
        draft = Draft(self.turn_span(turn), None, f"{names.INVOKE_AGENT} {agent}", at)
        self._agents[turn] = agent
        draft.attributes |= {names.OPERATION: names.INVOKE_AGENT, **self._common(turn)}
        draft.attributes[names.CALLER] = "agent" if caller.agent else "run" if caller.run else "user"
        if self._facts.contents:
            draft.attributes[names.INPUT_MESSAGES] = _json([{"role": "user", "parts": [_text(text)]}])
        if caller.run is not None and caller.token is not None:
            above = span_id_of(caller.run, caller.token)
            if root_of(caller.run) == root_of(self._facts.run):
                draft.parent_id = above
            else:  # it goes on with a conversation that another run or user began
                draft.links.append(Link(trace_id_of(caller.run), above))
        self._turns[turn] = draft

    def _answered(self, turn: int, number: int, move: Move) -> None:
        self._calls |= {(turn, number, position): call for position, call in enumerate(move.calls)}
        draft = self._models.pop(turn, None)
        if draft is None:
            return
        attributes = model_attributes(self._facts, move.profile, move.model)
        draft.name = f"{names.CHAT} {attributes.get(names.REQUEST_MODEL, move.model)}"
        draft.attributes |= {**attributes, names.MOVE: number}
        draft.attributes[names.INPUT_TOKENS] = move.usage.input_tokens
        draft.attributes[names.OUTPUT_TOKENS] = move.usage.output_tokens
        if self._facts.contents:
            draft.attributes[names.OUTPUT_MESSAGES] = _json([{"role": "assistant", "parts": _parts(move)}])

    def _told(self, call: ToolCall) -> dict[str, AttributeValue]:
        """What the model called a tool with."""
        found: dict[str, AttributeValue] = {names.TOOL_CALL: call.id}
        return {**found, names.TOOL_ARGUMENTS: _json(_arguments(call))} if self._facts.contents else found

    def _called(self, place: CallId, result: ToolResult, at: int) -> Iterator[tuple[Draft, int]]:
        """Add a tool's result to its span. A call without a token, as of an unknown tool, ends as it begins."""
        draft: Draft | None = self._tools.pop(place, None)
        if draft is None:
            draft = Draft(span_id_of(self._facts.run, "call", *place), self.turn_span(place[0]), "", at)
            draft.name = f"{names.EXECUTE_TOOL} {result.name}"
            draft.attributes |= {names.OPERATION: names.EXECUTE_TOOL, names.TOOL: result.name, **self._common(place[0])}
            made = self._calls.pop(place, None)
            draft.attributes |= {} if made is None else self._told(made)
            yield draft, at
        if result.error is not None:
            draft.fail(result.error.code, result.error.message)
        if self._facts.contents and result.error is None:
            draft.attributes[names.TOOL_RESULT] = _json(result.result)

    def _forget(self, turn: int) -> None:
        """Nothing more comes of a turn that has ended."""
        self._agents.pop(turn, None)
        self._models.pop(turn, None)
        for place in [each for each in (*self._tools, *self._calls) if each[0] == turn]:
            self._tools.pop(place, None)
            self._calls.pop(place, None)


def _parts(move: Move) -> list[Json]:
    calls: list[Json] = [
        {"type": "tool_call", "id": call.id, "name": call.name, "arguments": _arguments(call)} for call in move.calls
    ]
    return [_text(move.text), *calls] if move.text else calls


def _arguments(call: ToolCall) -> Json:
    return call.input if call.raw is None else call.raw


def _text(text: str) -> Json:
    return {"type": "text", "content": text}


def _json(value: Json) -> str:
    return msgspec.json.encode(value).decode()
