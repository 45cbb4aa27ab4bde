"""Triggers that runs set off: how deep it goes, what is refused, and what the run that caused it is told."""

from collections.abc import Callable

import pytest

from jeton.model.definition.trigger import OnEvent, OnRunFinished, Trigger
from jeton.model.state.run import FiredBy
from tests.conformance.case import Case, Data, FiringSeen, Outcome, sets, signals, to, workflow

TELLS = {"action": {"kind": "emit", "implementation": {"event": "told"}}, "input_mapping": {"n": "input.n"}}
TELLS_AND_WAITS = workflow({"tell": TELLS, "hear": {"wait": {"signal": "heard"}}}, to("tell", "hear"))
"""It publishes, and does not end before it was told what became of that."""

TOLD = (signals("told", "heard", when="note_firing"),)
AFTER = Trigger("after", "w", OnRunFinished("w"))
HEARS = Trigger("hears", "c", OnEvent("told"))


def fired(*expected: FiringSeen, told: tuple[Data, ...] = ()) -> Callable[[Outcome], None]:
    """These, in this order; and this is what the run says of it."""

    def check(seen: Outcome) -> None:
        assert seen.firings == expected
        of_triggers = [event for event in seen.events if event["type"].startswith("trigger.") and event["seq"] > 1]
        facts = [
            {name: value for name, value in event.items() if name in ("type", "trigger", "depth", "code")}
            for event in of_triggers
        ]
        assert facts == list(told)
        assert all(event["type"] == "trigger.refused" or event["started"] for event in of_triggers)
        assert "run.resumed" not in seen.types()  # a run that waits is not set going by being told

    return check


CASES = [
    Case(
        "H11 a run at depth 2 fires one at depth 3, and that one nothing",
        workflow({"a": sets(done="true")}),
        trigger=FiredBy("schedule", 2, "t"),
        triggers=(AFTER,),
        output={"done": True},
        also=fired(
            FiringSeen("after", "run_finished", 3, "completed"),
            FiringSeen("after", "run_finished", 4, code="too_deep"),
        ),
    ),
    Case(
        "H11 an event of a run at depth 2 fires at depth 3, and the run is told",
        TELLS_AND_WAITS,
        {"n": 1},
        trigger=FiredBy("schedule", 2, "t"),
        others={"c": workflow({"c1": {}})},
        triggers=(HEARS,),
        acts=TOLD,
        also=fired(
            FiringSeen("hears", "event", 3, "completed"),
            told=({"type": "trigger.fired", "trigger": "hears", "depth": 3},),
        ),
    ),
    Case(
        "H11 an event of a run at depth 3 fires nothing, and the run is told",
        TELLS_AND_WAITS,
        {"n": 1},
        trigger=FiredBy("schedule", 3, "t"),
        others={"c": workflow({"c1": {}})},
        triggers=(HEARS,),
        acts=TOLD,
        also=fired(
            FiringSeen("hears", "event", 4, code="too_deep"),
            told=({"type": "trigger.refused", "trigger": "hears", "code": "too_deep"},),
        ),
    ),
    Case(
        "H12 what is not there is refused once, and not tried again: for an end",
        workflow({"a": sets(done="true")}),
        triggers=(Trigger("lost", "nowhere", OnRunFinished("w")),),
        also=fired(FiringSeen("lost", "run_finished", 1, code="unknown_workflow")),
    ),
    Case(
        "H12 what is not there is refused once, and not tried again: for an event",
        TELLS_AND_WAITS,
        {"n": 1},
        triggers=(Trigger("lost", "nowhere", OnEvent("told")),),
        acts=TOLD,
        also=fired(
            FiringSeen("lost", "event", 1, code="unknown_workflow"),
            told=({"type": "trigger.refused", "trigger": "lost", "code": "unknown_workflow"},),
        ),
    ),
    Case(
        "only a condition that holds, and only an event of that name, fires",
        TELLS_AND_WAITS,
        {"n": 7},
        others={"c": workflow({"c1": {}})},
        triggers=(
            Trigger("big", "c", OnEvent("told", "event.n > 100")),
            Trigger("other", "c", OnEvent("untold")),
            Trigger("small", "c", OnEvent("told", "event.n < 100")),
            Trigger("unheard_of", "c", OnEvent("told", "event.m < 100")),
        ),
        acts=TOLD,
        also=fired(
            FiringSeen("small", "event", 1, "completed"),
            told=({"type": "trigger.fired", "trigger": "small", "depth": 1},),
        ),
    ),
    Case(
        "a run that has ended is told nothing",
        workflow({"tell": TELLS, "nap": {"wait": {"seconds": 0.05}}}, to("tell", "nap")),
        {"n": 1},
        others={"c": workflow({"c1": {}})},
        triggers=(Trigger("ended", "c", OnRunFinished("w")),),
        also=fired(FiringSeen("ended", "run_finished", 1, "completed")),
    ),
]
ROWS = [pytest.param(case, id=case.id) for case in CASES]
