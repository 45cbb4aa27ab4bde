"""What a model is given, whatever happened in the conversation."""

from collections.abc import Sequence
from typing import TypeVar

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jeton.actor.advance import LiveRun, advance
from jeton.actor.sections import encode_sections, load_run
from jeton.apply.draft import Draft, Touched
from jeton.apply.fold import fold
from jeton.model import decision as d
from jeton.model import message as m
from jeton.model.chat import (
    AssistantMessage,
    CalledTool,
    ModelAnswer,
    ModelFailed,
    ModelMessage,
    ModelReply,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from jeton.model.effect import SendMessage, StartTask
from jeton.model.json import Json
from jeton.model.message import Message
from jeton.model.state.phase import Dispatched, Executing, WaitingForAgent, WaitingForGate, WaitingForSubworkflow
from jeton.model.state.run import Head, RunState, Token
from jeton.model.state.talk import Caller, TurnStatus, WhenBusy
from jeton.model.transcript import json_text, messages_of, unpaired
from jeton.planning.program.workflow import Program
from tests.planning.given import BOOM, RUN
from tests.planning.talking import TOOLS, agent

CALL, RESULT = ToolCall("c", "look"), ToolResult("c", "look", 1)


@pytest.mark.parametrize(
    ("messages", "problem"),
    [
        pytest.param([UserMessage("hi"), AssistantMessage("Hello.")], None, id="no calls"),
        pytest.param([AssistantMessage("", (CALL,)), ToolMessage((RESULT,))], None, id="a call with its result"),
        pytest.param([AssistantMessage("", (CALL,))], "have no results", id="a call at the end without one"),
        pytest.param([AssistantMessage("", (CALL,)), UserMessage("x")], "have no results", id="something in between"),
        pytest.param([ToolMessage((RESULT,))], "have the results", id="a result without a call"),
        pytest.param(
            [AssistantMessage("", (CALL, ToolCall("d", "look"))), ToolMessage((ToolResult("d", "look"), RESULT))],
            "have the results",
            id="results in another order",
        ),
        pytest.param(
            [AssistantMessage("", (CALL, CALL)), ToolMessage((RESULT, RESULT))], "twice", id="an id used twice"
        ),
        pytest.param(
            [
                AssistantMessage("", (CALL,)),
                ToolMessage((RESULT,)),
                AssistantMessage("", (CALL,)),
                ToolMessage((RESULT,)),
            ],
            "twice",
            id="an id used again later",
        ),
    ],
)
def test_pairs_of_calls_and_results(messages: list[ModelMessage], problem: str | None) -> None:
    found = unpaired(messages)
    assert found is None if problem is None else found is not None and problem in found


def test_equal_values_have_the_same_text() -> None:
    assert json_text({"b": 1, "a": 2}) == json_text({"a": 2, "b": 1}) == '{"a":2,"b":1}'


# any conversation

PERSONA = "recent_turns: 3, max_moves_per_turn: 3, max_parallel_tools: 2"
NARROW = "{provider: scripted, context_window: 500, parameters: {max_tokens: 10}, script: [{text: Hello.}]}"
PROGRAMS = {
    "plain": agent(PERSONA),
    "remembering": agent(f"{PERSONA}, memory: {{types: {{fact: {{}}}}}}"),
    "compacting": agent(f"{PERSONA}, compaction: child, turn_timeout_ms: 1000", profile=NARROW),
}
NAMES = (*TOOLS, "gone")
TEXTS = ("", "ok", "words " * 20)
WHEN_BUSY: tuple[WhenBusy, ...] = ("queue", "steer", "interrupt")
_T = TypeVar("_T")


class Choices:
    """What happens, as numbers that each choose one of several things."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self._numbers = iter(numbers)

    def of(self, things: Sequence[_T]) -> _T:
        return things[next(self._numbers) % len(things)]

    def reply(self) -> ModelReply:
        if self.of(range(8)) == 7:
            return ModelFailed(self.of(("model_error", "context_too_long")), "x")
        calls = tuple(self.call() for _ in range(self.of((0, 1, 2, 3))))
        return ModelAnswer(self.of(TEXTS), calls, finish=self.of(("stop", "stop", "stop", "length")))

    def call(self) -> CalledTool:
        name = self.of(NAMES)
        inputs: dict[str, Json] = {"ask_amy": {"message": "x"}, "invite": {"message": "x"}, "pay": {"sum": 1}}
        return CalledTool(name, inputs.get(name, {}))


class Conversation:
    """A conversation in which anything may happen next, with what its models were given."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.run = LiveRun(RunState(Head(RUN, "agent:bob")))
        self.decisions: list[d.Decision] = []
        self.requests: list[tuple[str, list[Json]]] = []
        self.shrunk = False
        self.at = 0
        self.tell(m.StartRun(0, {}))

    def tell(self, message: Message) -> None:
        commit = advance(self.program, self.run, [message])
        made = () if commit.entry is None else commit.entry.decisions
        self.decisions += made
        error = self.run.state.head.error
        assert error is None, error
        self.shrunk = self.shrunk or any(isinstance(each, d.ShrinkWindow | d.ShortenResults) for each in made)
        for effect in commit.effects:
            if isinstance(effect, StartTask) and effect.node.startswith("model"):
                self._request(effect)
            if isinstance(effect, SendMessage) and effect.run == RUN:
                self.tell(effect.message)

    def _request(self, effect: StartTask) -> None:
        assert isinstance(effect.input, dict)
        messages = effect.input["messages"]
        assert isinstance(messages, list)
        assert unpaired(msgspec.convert(messages, list[ModelMessage])) is None
        before = next((given for node, given in reversed(self.requests) if node == effect.node), list[Json]())
        if self.shrunk:
            self.requests.clear()
            self.shrunk = False
        else:
            assert messages[: len(before)] == before, "a request begins with the one before it"
        self.requests.append((effect.node, messages))

    def check(self) -> None:
        state = self.run.state
        for number in state.talk.turns:
            assert unpaired(messages_of(state.talk, number)) is None
        moving = [turn for turn in state.talk.turns.values() if turn.moving]
        assert len([turn for turn in moving if turn.beside is None]) <= 1
        for turn in state.talk.active():
            if turn.moving:
                assert any(token.path.split(".")[1] == str(turn.number) for token in state.tokens.values()), turn


def next_message(choices: Choices, talk: Conversation) -> Message:
    """Something that may happen now."""
    talk.at += 1
    state, now, name = talk.run.state, talk.at, f"m{talk.at}"
    token = choices.of((None, None, *state.tokens.values()))
    if token is None:
        return said(choices, state, now, name)
    match token.phase:
        case Dispatched() | Executing():
            return finished(choices, token, now)
        case WaitingForGate():
            return m.AnswerGate(now, name, {"decision": choices.of(("approve", "refuse"))}, token=token.id)
        case WaitingForSubworkflow(child=child):
            ok = choices.of((True, False))
            output: Json = {"summary": "s", "messages": []}
            return m.ChildEnded(now, token.id, child, "completed" if ok else "failed", output if ok else None)
        case WaitingForAgent(conversation=conversation) if conversation != RUN:
            ends: TurnStatus = choices.of(("completed", "failed"))
            return m.TurnOver(now, token.id, conversation, 1, ends, "Yes.")
        case _:
            return said(choices, state, now, name)


def said(choices: Choices, state: RunState, now: int, name: str) -> Message:
    active = state.talk.active()
    if active and choices.of(range(5)) == 4:
        return m.StopTurn(now, name, choices.of((None, active[-1].number)))
    to = choices.of((None, None, *state.talk.head.participants))
    caller, text = Caller(user="ann"), choices.of(TEXTS[1:])
    return m.ChatSent(now, name, text, caller, when_busy=choices.of(WHEN_BUSY), to=to)


def finished(choices: Choices, token: Token, now: int) -> Message:
    what = choices.of(range(8))
    if what == 7:
        return m.TaskLost(now, token.id, token.attempt)
    if token.node.startswith("model"):
        return m.TaskFinished(now, token.id, token.attempt, msgspec.to_builtins(choices.reply()))
    if what == 6:
        return m.TaskFinished(now, token.id, token.attempt, failure=BOOM)
    return m.TaskFinished(now, token.id, token.attempt, {"memories": [], "summary": "s"})


STEP = st.binary(min_size=16, max_size=16)


@settings(max_examples=100)
@given(st.sampled_from(sorted(PROGRAMS)), st.lists(STEP, max_size=30))
def test_whatever_happens_every_request_is_paired_and_begins_with_the_one_before(
    agent: str, steps: list[bytes]
) -> None:
    talk = Conversation(PROGRAMS[agent])
    for numbers in steps:
        talk.tell(next_message(Choices(numbers), talk))
        talk.check()
    stored = whole(talk.run.state)
    assert whole(load_run({name: body for name, body in stored.items() if body is not None}).state) == stored
    again = LiveRun(RunState(Head(RUN, "agent:bob")))
    draft = Draft(again.state, again.timers)
    for decision in talk.decisions:
        fold(draft, decision)
    folded = whole(again.state)
    assert {**folded, "head": None} == {**stored, "head": None}  # the head counts entries too


def whole(state: RunState) -> dict[str, bytes | None]:
    touched = Touched()
    touched.everything(state)
    return encode_sections(state, touched)
