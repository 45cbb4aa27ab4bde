"""Credits: who pays in a tree of runs, how far they go, and what running out does."""

from collections.abc import Callable

import pytest

from tests.conformance.case import Case, Data, Outcome, cancels, each, join, mock, to, workflow

ITEM: Data = {"input_mapping": {"x": "item"}}
TWO = workflow({"first": mock(), "second": {"output_mapping": {"output.done": "true"}}}, to("first", "second"))
DEAR: Data = {"dear": {"steps": [{"ref": "s", "action": mock()["action"]}]}}
COSTS: Data = {"credits": {"costs": {"dear": 5}}}
SLOW = workflow({"slow": mock(delay_ms=500), "after": {}}, to("slow", "after"))
LATE = workflow({"rest": {"wait": {"seconds": 0.03}}, "only": {"task": "dear"}}, to("rest", "only"))
BELOW = workflow({"inner": {"workflow": "two"}, "outer": {}}, to("inner", "outer"))


def calls(workflow: str, **more: str) -> Data:
    return {"call": {"workflow": workflow, "output_mapping": {"output.done": "result.done"}, **more}}


def chain(length: int) -> Data:
    nodes = {f"n{number}": mock() for number in range(length)}
    return workflow(nodes, *(to(f"n{number}", f"n{number + 1}") for number in range(length - 1)))


def flow_of(workflow: str, **data: str) -> Data:
    return {"nodes": {"call": {"type": "workflow", "data": {"workflow": workflow, **data}}}, "connections": []}


def used(root: int, *below: int) -> Callable[[Outcome], None]:
    """What the root's nodes cost, and what each run below accounted for."""

    def check(seen: Outcome) -> None:
        own = sum(event["amount"] for event in seen.events if event["type"] == "credits.reserved")
        returned = [event["used"] for event in seen.events if event["type"] == "credits.returned"]
        assert (own, sorted(returned)) == (root, sorted(below))

    return check


def ended(*statuses: str) -> Callable[[Outcome], None]:
    """How the runs below ended."""

    def check(seen: Outcome) -> None:
        assert sorted(child.status for child in seen.children) == sorted(statuses)

    return check


def both(*checks: Callable[[Outcome], None]) -> Callable[[Outcome], None]:
    def check(seen: Outcome) -> None:
        for one in checks:
            one(seen)

    return check


def nothing_began(seen: Outcome) -> None:
    assert "task.dispatched" not in seen.types()
    assert "credits.short" in seen.types()


def what_ran_was_waited_for(seen: Outcome) -> None:
    """The task beside the exhausted call, and the task in the run beside it; nothing new began in either."""
    assert (seen.count("work"), seen.count("then")) == (1, 0)
    returned = {event["run"]: event["used"] for event in seen.events if event["type"] == "credits.returned"}
    below = {child.workflow: (child.status, returned[child.run]) for child in seen.children}
    assert below == {"late": ("exhausted", 1), "slow": ("exhausted", 1)}


def only_the_project_was_asked(seen: Outcome) -> None:
    assert "credits.asked" in seen.types()
    assert "credits.lent" not in seen.types()


CASES = [
    Case(
        "a token graph with nothing to spend runs no node, and is recorded",
        chain(2),
        credits=0,
        status="exhausted",
        error="credits_exhausted",
        also=nothing_began,
    ),
    Case(
        "a project with nothing to spend runs no node, and the run is recorded",
        chain(2),
        settings={"credits": {"balance": 0}},
        status="exhausted",
        error="credits_exhausted",
        also=nothing_began,
    ),
    Case(
        "credits that run out midway end a token graph exhausted",
        chain(3),
        credits=2,
        status="exhausted",
        error="credits_exhausted",
        also=used(2),
    ),
    Case("as many credits as nodes are enough", chain(3), credits=3, also=used(3)),
    Case(
        "what a run calls is paid from the run's own credits",
        workflow(calls("two")),
        credits=3,
        others={"two": TWO},
        output={"done": True},
        also=both(used(1, 2), ended("completed")),
    ),
    Case(
        "what a run calls runs out of the run's credits, and both are exhausted",
        workflow(calls("two")),
        credits=2,
        others={"two": TWO},
        status="exhausted",
        error="credits_exhausted",
        also=both(used(1, 1), ended("exhausted")),
    ),
    Case(
        "if nothing is left for what a run calls, no node of that runs",
        workflow(calls("two")),
        credits=1,
        others={"two": TWO},
        status="exhausted",
        error="credits_exhausted",
        also=both(used(1), ended("exhausted")),
    ),
    Case(
        "two levels down it is still the same credits",
        workflow(calls("below")),
        credits=5,
        others={"below": BELOW, "two": TWO},
        also=both(used(1, 2, 2), ended("completed", "completed")),
    ),
    Case(
        "two levels down they run out for everybody above",
        workflow(calls("below")),
        credits=3,
        others={"below": BELOW, "two": TWO},
        status="exhausted",
        error="credits_exhausted",
        also=both(used(1, 1, 1), ended("exhausted", "exhausted")),
    ),
    Case(
        "several calls at a time share the credits to the last one",
        workflow(
            {"s": {}, "call": {"workflow": "two", **ITEM}, "t": {}}, each("s", "call", "[1, 2, 3]"), join("call", "t")
        ),
        credits=11,
        others={"two": TWO},
        also=both(used(5, 2, 2, 2), ended("completed", "completed", "completed")),
    ),
    Case(
        "a node that catches sees an exhausted run as any that failed",
        workflow(
            {"call": {"workflow": "two", "on_failure": "catch", "output_mapping": {"output.why": "result.error.type"}}}
        ),
        credits=2,
        others={"two": TWO},
        output={"why": "credits_exhausted"},
        also=both(used(1, 1), ended("exhausted")),
    ),
    Case(
        "what an exhausted run did not use is back for whoever handles its failure",
        workflow(
            {"call": {"workflow": "dear"}, "rescue": {"output_mapping": {"output.m": "state._last_error.type"}}},
            to("call", "rescue", "has(state._last_error.type)"),
        ),
        credits=3,
        settings=COSTS,
        tasks=DEAR,
        others={"dear": workflow({"only": {"task": "dear"}})},
        output={"m": "credits_exhausted"},
        also=both(used(2, 0), ended("exhausted")),
    ),
    Case(
        "a branch whose run is exhausted is lost if its join goes on without it",
        workflow(
            {"s": {}, "call": {"workflow": "dear"}, "t": {"output_mapping": {"output.ok": "true"}}},
            to("s", "call", sibling_group="g"),
            join("call", "t", on_branch_failure="continue", sibling_group="g"),
        ),
        credits=4,
        settings=COSTS,
        tasks=DEAR,
        others={"dear": workflow({"only": {"task": "dear"}})},
        output={"ok": True},
        also=both(used(3, 0), ended("exhausted")),
    ),
    Case(
        "when a run is exhausted, what runs beside it and below is waited for, and nothing new begins there",
        workflow(
            {
                "s": {},
                "call": {"workflow": "late"},
                "beside": {"workflow": "slow"},
                "work": mock(delay_ms=200),
                "then": {},
            },
            to("s", "call"),
            to("s", "beside"),
            to("s", "work"),
            to("work", "then"),
        ),
        credits=9,
        settings=COSTS,
        tasks=DEAR,
        others={"late": LATE, "slow": SLOW},
        status="exhausted",
        error="credits_exhausted",
        also=what_ran_was_waited_for,
    ),
    Case(
        "when a run is exhausted, one below that waits for somebody is too",
        workflow(
            {"s": {}, "call": {"workflow": "late"}, "beside": {"workflow": "asks"}}, to("s", "call"), to("s", "beside")
        ),
        credits=7,
        settings=COSTS,
        tasks=DEAR,
        others={"late": LATE, "asks": workflow({"ask": {"gate": {"title": "?"}}})},
        status="exhausted",
        error="credits_exhausted",
        also=ended("exhausted", "exhausted"),
    ),
    Case(
        "a tree that is cancelled ends whole, whatever it had been lent",
        workflow(calls("slow")),
        credits=9,
        others={"slow": SLOW},
        acts=(cancels("dispatch_token", node="slow"),),
        status="cancelled",
        error="cancelled",
        also=ended("cancelled"),
    ),
    Case(
        "with a project's account every run asks for itself",
        workflow(calls("two")),
        settings={"credits": {"balance": 3}},
        others={"two": TWO},
        output={"done": True},
        also=both(only_the_project_was_asked, ended("completed")),
    ),
    Case(
        "a run that calls one which the project cannot pay for is exhausted",
        workflow(calls("two")),
        settings={"credits": {"balance": 2}},
        others={"two": TWO},
        status="exhausted",
        error="credits_exhausted",
        also=both(only_the_project_was_asked, ended("exhausted")),
    ),
    Case(
        "a run with credits of its own has no part in the project's account",
        workflow(calls("two")),
        credits=3,
        settings={"credits": {"balance": 0}},
        others={"two": TWO},
        output={"done": True},
        also=both(used(1, 2), ended("completed")),
    ),
    Case(
        "a flow pays for what it calls",
        {},
        flow=flow_of("two"),
        credits=3,
        others={"two": TWO},
        output={"done": True},
        also=both(used(1, 2), ended("completed")),
    ),
    Case(
        "a flow that calls a run which is exhausted is exhausted, whatever it does about errors",
        {},
        flow={**flow_of("two"), "on_error": "continue"},
        credits=2,
        others={"two": TWO},
        status="exhausted",
        error="credits_exhausted",
        also=both(used(1, 1), ended("exhausted")),
    ),
]
ROWS = [pytest.param(case, id=case.id) for case in CASES]
