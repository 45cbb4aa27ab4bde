"""The next step of a turn, decided from its state."""

import pytest

from jeton.model import decision as d
from jeton.planning.plan_turn import plan_end, plan_turn
from tests.planning.talking import (
    BOB,
    NOW,
    Talk,
    agent,
    call,
    chat,
    fails,
    lost,
    nodes,
    returns,
    says,
    stop,
    talk,
)

REMEMBERING = agent("memory: {types: {fact: {}}}")
ASKED = talk(BOB, chat())


@pytest.mark.parametrize(
    "told",
    [
        pytest.param(talk(BOB), id="before the first message"),
        pytest.param(talk(REMEMBERING, chat()), id="assembling"),
        pytest.param(ASKED, id="deciding"),
        pytest.param(ASKED.then(says("", call("look"), call("pay", sum=1))), id="executing"),
        pytest.param(ASKED.then(says("On it.", call("slow"))), id="lingering"),
        pytest.param(talk(REMEMBERING, chat(), returns("recall", {}), says("Hello.")), id="extracting"),
        pytest.param(ASKED.then(says("Hello.")), id="ended"),
    ],
)
def test_planning_again_without_a_change_gives_nothing(told: Talk) -> None:
    state = told.state()
    for number in (1, 2):
        assert plan_turn(told.program, state, number, NOW) == []


@pytest.mark.parametrize(
    ("told", "phase", "at"),
    [
        pytest.param(talk(REMEMBERING, chat()), "assembling", ["recall"], id="it is assembled"),
        pytest.param(ASKED, "deciding", ["model"], id="the model is asked"),
        pytest.param(ASKED.then(says("", call("look"))), "executing", ["tool:look"], id="its calls are made"),
        pytest.param(
            ASKED.then(says("", call("look")), returns("tool:look", 1)), "deciding", ["model"], id="it is asked again"
        ),
        pytest.param(ASKED.then(says("Hm.", call("slow"))), "lingering", ["tool:slow"], id="only async work is left"),
        pytest.param(
            talk(REMEMBERING, chat(), returns("recall", {}), says("Hello.")),
            "extracting",
            ["extraction"],
            id="memories are extracted",
        ),
        pytest.param(ASKED.then(says("Hello.")), "ended", [], id="it has ended"),
        pytest.param(ASKED.then(lost("model")), "deciding", ["model"], id="a lost call is made again"),
    ],
)
def test_the_phases_of_a_turn(told: Talk, phase: str, at: list[str]) -> None:
    state = told.state()
    assert (state.talk.turns[1].phase, nodes(state)) == (phase, at)


@pytest.mark.parametrize(
    ("told", "status"),
    [
        pytest.param(talk(BOB), "waiting", id="nobody has said anything"),
        pytest.param(ASKED, "running", id="a turn moves"),
        pytest.param(ASKED.then(says("", call("pay", sum=1), call("look"))), "running", id="also beside an approval"),
        pytest.param(ASKED.then(says("", call("pay", sum=1))), "waiting", id="a person is waited for"),
        pytest.param(ASKED.then(says("On it.", call("slow"))), "waiting", id="only async work is left"),
        pytest.param(ASKED.then(says("Hello.")), "waiting", id="nothing is to be done"),
    ],
)
def test_the_status_of_a_conversation(told: Talk, status: str) -> None:
    assert told.state().head.status == status


def test_failures_of_tools_are_counted_in_the_issues() -> None:
    told = ASKED.then(says("", call("look"), call("gone")), fails("tool:look"), says("Sorry."))
    assert told.state().talk.turns[1].issues == {"tool_failures": 2}


def test_the_end_of_a_turn_without_memory_is_its_end() -> None:
    state = ASKED.then(says("", call("look"))).state()
    *_, end = plan_end(BOB, state, state.talk.turns[1], NOW)
    assert isinstance(end, d.EndTurn)


def test_extraction_waits_until_nothing_is_pending() -> None:
    told = talk(REMEMBERING, chat(), returns("recall", {}), says("On it.", call("slow")))
    assert nodes(told.state()) == ["tool:slow"]
    told = told.then(returns("tool:slow", 1), says("Done."))
    assert nodes(told.state()) == ["extraction"]


def test_a_stopped_turn_extracts_nothing() -> None:
    assert nodes(talk(REMEMBERING, chat(), returns("recall", {}), stop()).state()) == []
