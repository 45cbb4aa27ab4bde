"""Tasks that ask people something: nobody holds their place, and the same attempt goes on with the answer."""

from typing import Any

import pytest
from msgspec import UnsetType

from jeton.model.ids import TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.message import AnswerGate
from jeton.plugins import ActionCall, ActionHandler, AsksInput, Kind, register_kind
from tests.conformance.case import (
    HELD,
    Act,
    Case,
    Data,
    Outcome,
    answers,
    answers_early,
    cancels,
    each,
    join,
    lets_go,
    pauses,
    to,
    unpauses,
    workflow,
)
from tests.conformance.flow_nodes import case, flow, node
from tests.conformance.rows.flow import Check, both

LONG = 600
NUMBER: Data = {"type": "integer"}


class Asks(Kind, frozen=True):
    """Asks for a number several times, and gives all that it was told. What it was told is only in its state."""

    times: int = 1
    timeout_ms: int | None = None

    def prepare(self) -> ActionHandler:
        return self._ask

    async def _ask(self, call: ActionCall) -> Json | AsksInput:
        told: list[Json] = []
        if call.continuation is not None:
            before = call.continuation.state
            assert isinstance(before, list)
            assert not isinstance(call.continuation.answer, UnsetType)
            told = [*before, call.continuation.answer]
        if len(told) < self.times:
            return AsksInput(f"number {len(told) + 1}?", {"type": "integer"}, told, self.timeout_ms)
        made: JsonObject = {"told": told, "attempt": call.call.attempt, "key": call.call.idempotency_key[-3:]}
        return made


register_kind("asks_numbers", Asks)


def asks(times: int = 1, timeout_ms: int | None = None, **rest: Any) -> Data:
    implementation: Data = {"times": times} if timeout_ms is None else {"times": times, "timeout_ms": timeout_ms}
    action: Data = {"kind": "asks_numbers", "implementation": implementation}
    return {"action": action, "output_mapping": {"output.told": "result.told"}, **rest}


ASKS = workflow({"a": asks()})


def says(id: str, value: Any, *, at: str = "a", nth: int = 0) -> Act:
    return answers(id, value, at=at, when="ask_input", nth=nth)


def then_says(id: str, value: Any, *, when: str = "reply_to") -> Act:
    """Answer what the first token asks, but not at once."""
    return Act(when, lambda _: AnswerGate(0, id, value, token=TokenId(0)))


def asked(times: int) -> Check:
    """It was given out again with each answer, as the same attempt, and the run waited meanwhile."""

    def check(seen: Outcome) -> None:
        moves = [d for d in seen.decisions if d in ("dispatch_token", "ask_input", "continue_task")]
        assert moves == ["dispatch_token", *["ask_input", "continue_task"] * times]
        assert [e["attempt"] for e in seen.events if e["type"] == "task.dispatched"] == [1] * (1 + times)
        kinds = seen.types()
        assert kinds.count("gate.opened") == kinds.count("gate.answered") == times
        assert kinds.count("run.waiting") == kinds.count("run.resumed") == times

    return check


def titles(*texts: str) -> Check:
    def check(seen: Outcome) -> None:
        assert [event["title"] for event in seen.events if event["type"] == "gate.opened"] == list(texts)

    return check


def told_why(seen: Outcome) -> None:
    assert seen.reply("wrong").why == 'answer: "x" is not of type "integer"'
    assert seen.reply("right").accepted


def one_won(seen: Outcome) -> None:
    assert [reply.id for reply in seen.replies if reply.accepted] == ["first"]
    assert [reply.why for reply in seen.replies if not reply.accepted] == ["the gate is closed"]


def closed_at_once(seen: Outcome) -> None:
    """Paused, the task waits for the end of the pause, and its gate is closed meanwhile."""
    assert seen.reply("a").accepted
    assert not seen.reply("late").accepted
    assert seen.decisions.index("wake_token") > len(seen.decisions) - 1 - seen.decisions[::-1].index("set_paused")


def timed_out(seen: Outcome) -> None:
    assert "gate.timed_out" in seen.types()
    assert seen.error_message == "what the task asked was not answered within 50 ms"


def withdrawn(seen: Outcome) -> None:
    assert seen.count("a", "cancelled") == 1
    assert "gate.answered" not in seen.types()


def no_gate_there(seen: Outcome) -> None:
    assert seen.reply("early").why == "there is no gate at 'a'"


def not_asked(seen: Outcome) -> None:
    assert "ask_input" not in seen.decisions


TWO_STEPS: Data = {
    "steps": [
        {"ref": "one", "action": {"kind": "asks_numbers"}},
        {"ref": "two", "action": {"kind": "mock", "implementation": {"output": {}}}},
    ]
}
RETRIED: Data = {
    "steps": [{"ref": "one", "action": {"kind": "asks_numbers"}, "output_mapping": {"output.told": "result.told"}}],
    "output_schema": {"properties": {"told": {"const": [2]}}},
    "retry": {"max_attempts": 2},
}

CASES = [
    Case(
        "it goes on with the answer",
        ASKS,
        output={"told": [7]},
        acts=(says("a", 7),),
        also=both(asked(1), titles("number 1?")),
    ),
    Case(
        "it may ask again, and finds what it knew",
        workflow({"a": asks(2)}),
        output={"told": [7, 8]},
        acts=(says("a", 7), says("b", 8, nth=1)),
        also=both(asked(2), titles("number 1?", "number 2?")),
    ),
    Case(
        "an answer that does not fit is refused, and the question stays",
        ASKS,
        output={"told": [7]},
        acts=(says("wrong", "x"), then_says("right", 7)),
        also=told_why,
    ),
    Case(
        "only the first answer counts",
        workflow({"a": asks(), "rest": HELD}, to("a", "rest")),
        acts=(says("first", 1), then_says("second", 2), lets_go("rest", nth=1)),
        output={"told": [1]},
        also=one_won,
    ),
    Case(
        "nobody answers in time",
        workflow({"a": asks(timeout_ms=50)}),
        status="failed",
        error="timed_out",
        also=timed_out,
    ),
    Case(
        "a failure to answer can be handled",
        workflow(
            {"a": asks(timeout_ms=50), "b": {"output_mapping": {"output.saw": "state._last_error.type"}}},
            to("a", "b", "state._last_error.type == 'timed_out'"),
        ),
        output={"saw": "timed_out"},
    ),
    Case(
        "an early answer is not for a task",
        workflow({"rest": HELD, "a": asks()}, to("rest", "a")),
        output={"told": [7]},
        acts=(answers_early("early", 1, at="a"), lets_go("rest"), says("a", 7)),
        also=no_gate_there,
    ),
    Case("a cancelled run asks nobody", ASKS, status="cancelled", error="cancelled", acts=(cancels("ask_input"),)),
    Case(
        "answered while paused it goes on after the pause",
        ASKS,
        output={"told": [7]},
        acts=(
            pauses("ask_input"),
            then_says("a", 7, when="set_paused"),
            then_says("late", 8),
            unpauses("reply_to", nth=1),
        ),
        also=closed_at_once,
    ),
    Case(
        "one of several steps cannot ask",
        workflow({"a": {"task": "two"}}),
        tasks={"two": TWO_STEPS},
        status="failed",
        error="cannot_ask",
        also=not_asked,
    ),
    Case(
        "a new attempt asks anew",
        workflow({"a": {"task": "retried", "output_mapping": {"output.told": "result.told"}}}),
        tasks={"retried": RETRIED},
        acts=(says("a", 1), says("b", 2, nth=1)),
        output={"told": [2]},
    ),
    Case(
        "branches ask for themselves",
        workflow(
            {"s": {}, "a": asks(output_mapping={"_branch.output.n": "result.told[0]"}), "e": {}},
            each("s", "a", "input.list"),
            join("a", "e", merge={"source": "_branch.output.n", "target": "output.all", "strategy": "append"}),
        ),
        input={"list": [1, 2]},
        acts=(says("a", 5), says("b", 6, nth=1)),
        output={"all": [5, 6]},
    ),
    Case(
        "a question of a branch that is not waited for any more is withdrawn",
        workflow(
            {"s": {}, "a": {**asks(), "output_mapping": {}}, "b": {"wait": {"seconds": 0.1}}, "e": {}},
            to("s", "a", sibling_group="g"),
            to("s", "b", sibling_group="g"),
            join("a", "e", "any"),
            join("b", "e", "any"),
        ),
        also=withdrawn,
    ),
    case(
        "a node of a flow asks",
        flow({"a": node("asks")}),
        actions={"asks": {"kind": "asks_numbers"}},
        acts=(says("a", 7),),
        also=asked(1),
    ),
]

ROWS = [pytest.param(case, id=case.id) for case in CASES]
