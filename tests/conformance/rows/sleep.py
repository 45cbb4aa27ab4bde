"""Tasks that sleep: nobody holds their place, the same attempt goes on, and all that stops a run stops them."""

from typing import Any

import pytest

from tests.conformance.case import (
    Case,
    Data,
    Outcome,
    cancels,
    each,
    join,
    pauses,
    sets,
    to,
    unpauses,
    workflow,
)
from tests.conformance.flow_nodes import MERGE, case, flow, node, wire
from tests.conformance.rows.flow import Check, both, failed_with, statuses

LONG = 600


def nap(seconds: float = 0.2, **inputs: Any) -> Data:
    return node("naps", seconds=seconds, **inputs)


def in_a_workflow(seconds: float, **rest: Any) -> Data:
    """A node of a token graph whose task is that Python node."""
    return {"action": "naps", "input_mapping": {"seconds": seconds}, **rest}


def slept(times: int = 1, least_ms: int = 200) -> Check:
    """It was given out again after each sleep, as the same attempt, and the run waited meanwhile."""

    def check(seen: Outcome) -> None:
        moves = [d for d in seen.decisions if d in ("dispatch_token", "suspend_token", "wake_token")]
        assert moves == ["dispatch_token", *["suspend_token", "wake_token"] * times]
        given = [(e["attempt"], e.get("delivery", 1)) for e in seen.events if e["type"] == "task.dispatched"]
        assert given == [(1, 1)] * (1 + times)
        kinds = seen.types()
        assert kinds.count("timer.set") == kinds.count("timer.fired") == times
        assert kinds.count("run.waiting") == kinds.count("run.resumed") == times
        assert seen.took_ms >= least_ms

    return check


def named(*sleeps: str) -> Check:
    def check(seen: Outcome) -> None:
        assert [event["label"] for event in seen.events if event["type"] == "timer.set"] == list(sleeps)

    return check


def paid_once(seen: Outcome) -> None:
    paid = [event["amount"] for event in seen.events if event["type"] == "credits.reserved"]
    assert paid == [1]


def it_stood_still(seen: Outcome) -> None:
    """Its time came while the run was paused, and it was woken afterwards."""
    order = [d for d in seen.decisions if d in ("suspend_token", "set_paused", "wake_token")]
    assert order == ["suspend_token", "set_paused", "set_paused", "wake_token"]


def it_never_woke(seen: Outcome) -> None:
    assert "wake_token" not in seen.decisions
    assert seen.took_ms < LONG * 1000


def it_woke_and_changed_nothing(seen: Outcome) -> None:
    assert "abandon_tokens" in seen.decisions
    assert "wake_token" in seen.decisions
    assert seen.types().count("late.ignored") == 1


ONE = {"slept": ["a before", "a after"], "attempt": 1}

CASES = [
    case(
        "a node that sleeps is left, and goes on behind its sleep",
        flow({"a": nap(), "b": MERGE}, wire("a", "b", "slept")),
        output={**ONE, "main": ["a before", "a after"]},
        also=both(slept(), named("nap 0"), statuses(a="completed", b="completed")),
    ),
    case(
        "each of its sleeps is a wait of its own",
        flow({"a": nap(times=2)}),
        output=ONE,
        also=both(slept(times=2, least_ms=400), named("nap 0", "nap 1")),
    ),
    case(
        "a moment is no wait",
        flow({"a": nap(seconds=0.02)}),
        output=ONE,
        also=slept(times=0, least_ms=20),
    ),
    case(
        "while one sleeps another works",
        flow({"a": nap(), "b": node("constant", {"value": 1}), "c": MERGE}, wire("b", "c")),
        output={**ONE, "value": 1, "main": {"value": 1}},
        also=slept(),
    ),
    case(
        "whoever catches the end of its own function fails",
        flow({"a": nap(catches="everything")}),
        status="failed",
        error="sleep_swallowed",
        also=failed_with("a", "ended at 'nap 0'"),
    ),
    case(
        "a node that sleeps is paid for once",
        flow({"a": nap()}),
        credits=5,
        output=ONE,
        also=both(slept(), paid_once),
    ),
    case(
        "in a paused run nobody is woken",
        flow({"a": nap(1)}),
        acts=(pauses("suspend_token"), unpauses("suspend_token", after_ms=1_200)),
        output=ONE,
        also=it_stood_still,
        hurries=True,
    ),
    case(
        "a run is cancelled while its node sleeps",
        flow({"a": nap(LONG)}),
        acts=(cancels("suspend_token"),),
        status="cancelled",
        error="cancelled",
        also=it_never_woke,
    ),
    case(
        "a run's time ends while its node sleeps",
        flow({"a": nap(LONG)}, timeout_ms=150),
        status="timed_out",
        error="timed_out",
        also=it_never_woke,
    ),
    Case(
        "a task sleeps for longer than it may work",
        workflow({"a": {"task": "rests", "output_mapping": {"output.slept": "result.slept"}}}),
        tasks={"rests": {"steps": [{"action": "naps", "input_mapping": {"seconds": 2.1}}], "timeout_ms": 2000}},
        output={"slept": ["a before", "a after"]},
        also=slept(least_ms=2100),
    ),
    Case(
        "branches sleep at the same time",
        workflow(
            {"s": {}, "a": in_a_workflow(0.2), "end": {}},
            each("s", "a", "input.items"),
            join("a", "end", merge={"target": "output.all", "strategy": "append"}),
        ),
        {"items": [1, 2, 3]},
        output={"all": [ONE] * 3},
        also=lambda seen: slept_together(seen, 3),
    ),
    Case(
        "a branch that nobody waits for sleeps on, and changes nothing",
        workflow(
            {
                "s": {},
                "a": in_a_workflow(0.15),
                "b": sets(),
                "j": {"wait": {"seconds": "0.5"}},
                "end": sets(done="true"),
            },
            to("s", "a", sibling_group="g"),
            to("s", "b", sibling_group="g"),
            join("a", "j", "any", on_early_complete="abandon"),
            join("b", "j", "any", on_early_complete="abandon"),
            to("j", "end"),
        ),
        output={"done": True},
        also=it_woke_and_changed_nothing,
    ),
]


def slept_together(seen: Outcome, times: int) -> None:
    assert seen.decisions.count("wake_token") == times
    assert seen.decisions.index("wake_token") > max(
        number for number, decision in enumerate(seen.decisions) if decision == "suspend_token"
    )


ROWS = [pytest.param(case, id=case.id) for case in CASES]
