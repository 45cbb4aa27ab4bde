"""What an account answers, what a run does for those below it, and what nodes cost."""

import pytest

from jeton.apply.draft import Draft
from jeton.apply.fold import fold
from jeton.apply.timers import Timers
from jeton.definitions import library_from
from jeton.model import decision as d
from jeton.model.definition.workflow import AgentTarget, Library, Node, Workflow
from jeton.model.failure import BrokenInvariant
from jeton.model.ids import RunId
from jeton.model.json import JsonObject
from jeton.model.message import (
    CreditsAsked,
    CreditsClosed,
    CreditsEnded,
    CreditsGranted,
)
from jeton.model.state.credits import Purse
from jeton.model.state.run import Head, RunState
from jeton.planning.credits import (
    balance_of,
    plan_account,
    prices_of,
    serve,
)
from jeton.planning.program.compile import compile_definition
from tests.planning.given import Given, given, started, workflow

RUN = RunId("r")
BELOW = RunId("r.1")


@pytest.mark.parametrize(
    ("balance", "granted", "message", "then"),
    [
        pytest.param(9, 1, CreditsAsked(5, RUN, 4), (5, 5, CreditsGranted(5, 4)), id="there is enough"),
        pytest.param(3, 1, CreditsAsked(5, RUN, 4), (0, 4, CreditsGranted(5, 3)), id="there is some: all of it"),
        pytest.param(0, 0, CreditsAsked(5, RUN, 4), (0, 0, CreditsGranted(5, 0)), id="there is nothing: that is said"),
        pytest.param(2, 5, CreditsClosed(5, RUN, 3), (4, 0, None), id="what was not used comes back"),
        pytest.param(2, 0, CreditsClosed(5, RUN, 3), (2, 0, None), id="a run of another store takes nothing"),
    ],
)
def test_what_an_account_answers(
    balance: int, granted: int, message: CreditsAsked | CreditsClosed, then: tuple[int, int, CreditsGranted | None]
) -> None:
    assert serve(balance, granted, message) == then


ONE = workflow("nodes: {a: {task: work}}")


@pytest.mark.parametrize(
    ("run", "message", "then"),
    [
        pytest.param(
            given(ONE, started(credits=9)),
            CreditsAsked(5, BELOW, 4),
            [d.LendCredits(BELOW, 4)],
            id="a run below is given what it asks for",
        ),
        pytest.param(
            given(ONE, started(credits=4)),
            CreditsAsked(5, BELOW, 4),
            [d.LendCredits(BELOW, 3)],
            id="or all that there is",
        ),
        pytest.param(
            given(ONE, started(credits=1)),
            CreditsAsked(5, BELOW, 4),
            [d.LendCredits(BELOW, 0)],
            id="nothing is said too",
        ),
        pytest.param(
            given(ONE, started(credits=9), CreditsEnded(1)),
            CreditsAsked(5, BELOW, 4),
            [d.LendCredits(BELOW, 0)],
            id="if it is short itself nothing new begins below either",
        ),
        pytest.param(given(ONE, started()), CreditsAsked(5, BELOW, 4), [], id="a run without a purse lends nothing"),
        pytest.param(
            given(ONE, started(credits=9), CreditsAsked(1, BELOW, 4)),
            CreditsClosed(5, BELOW, 3),
            [d.ReclaimCredits(BELOW, 3)],
            id="what was not used is back",
        ),
        pytest.param(
            given(ONE, started(credits=9)), CreditsClosed(5, BELOW, 0), [], id="who had nothing brings nothing back"
        ),
    ],
)
def test_what_a_run_does_for_those_it_pays_for(
    run: Given, message: CreditsAsked | CreditsClosed, then: list[d.Decision]
) -> None:
    assert plan_account(run.state(), message) == then


@pytest.mark.parametrize(
    ("purse", "lent", "decision", "then", "left"),
    [
        pytest.param(Purse(free=9), {}, d.LendCredits(BELOW, 4), Purse(free=5), {BELOW: 4}, id="lent"),
        pytest.param(Purse(free=9), {BELOW: 2}, d.LendCredits(BELOW, 4), Purse(free=5), {BELOW: 6}, id="lent again"),
        pytest.param(Purse(free=9), {}, d.LendCredits(BELOW, 0), Purse(free=9), {}, id="nothing lent is not kept"),
        pytest.param(Purse(free=1), {BELOW: 6}, d.ReclaimCredits(BELOW, 4), Purse(free=3, below=4), {}, id="reclaimed"),
        pytest.param(Purse(free=3), {}, d.LendCredits(BELOW, 4), None, {}, id="more than there is: our bug"),
        pytest.param(Purse(), {BELOW: 3}, d.ReclaimCredits(BELOW, 4), None, {}, id="more used than given: our bug"),
        pytest.param(Purse(), {}, d.ReclaimCredits(BELOW, 0), None, {}, id="given back twice: our bug"),
    ],
)
def test_what_lending_does_to_a_purse(
    purse: Purse, lent: dict[RunId, int], decision: d.Decision, then: Purse | None, left: dict[RunId, int]
) -> None:
    state = RunState(Head(RUN, "w", purse=purse))
    state.lent = dict(lent)
    draft = Draft(state, Timers(state))
    if then is None:
        with pytest.raises(BrokenInvariant):
            fold(draft, decision)
        return
    fold(draft, decision)
    assert (state.head.purse, state.lent) == (then, left)


LIBRARY: dict[str, object] = {
    "workflows": {
        "w": {
            "initial_node": "a",
            "nodes": {
                "a": {"task": "two"},
                "b": {"action": {"kind": "mock"}},
                "c": {"gate": {"title": "?"}},
                "d": {},
                "e": {"wait": {"seconds": 1}},
                "f": {"workflow": "v"},
            },
            "transitions": [{"from": f"{step[0]}", "to": f"{step[1]}"} for step in ("ab", "bc", "cd", "de", "ef")],
        },
        "v": {"initial_node": "a", "nodes": {"a": {}}},
    },
    "tasks": {"two": {"steps": [{"ref": "x", "action": {"kind": "mock"}}, {"ref": "y", "action": "named"}]}},
    "actions": {"named": {"kind": "mock"}},
}


@pytest.mark.parametrize(
    ("costs", "prices"),
    [
        pytest.param({}, (1, 1, 1, 1, 1, 1), id="one each"),
        pytest.param({"default": 4}, (4, 4, 4, 4, 4, 4), id="a default"),
        pytest.param({"two": 9, "gate": 0, "pass": 2}, (9, 1, 0, 2, 1, 1), id="by task, by type"),
        pytest.param({"wait": 3, "workflow": 5}, (1, 1, 1, 1, 3, 5), id="waits and calls by type"),
        pytest.param({"mock": 3}, (6, 3, 1, 1, 1, 1), id="by kind, for every step"),
        pytest.param({"mock": 3, "named": 5}, (8, 3, 1, 1, 1, 1), id="by the action's name before its kind"),
        pytest.param({"named": 5}, (5, 1, 1, 1, 1, 1), id="a step without a price is free beside one that has one"),
        pytest.param({"task": 7}, (7, 7, 1, 1, 1, 1), id="any task, where none of its steps has a price"),
        pytest.param(
            {"task": 7, "mock": 3, "two": 2}, (2, 3, 1, 1, 1, 1), id="the task's own name before all of these"
        ),
    ],
)
def test_what_nodes_cost(costs: JsonObject, prices: tuple[int, ...]) -> None:
    library: Library = library_from({**LIBRARY, "project": {"settings": {"credits": {"costs": costs}}}}).require()
    program = compile_definition(library, "w")
    assert tuple(program.price(node) for node in "abcdef") == prices
    assert all(price != 1 for price in prices_of(library.workflows["w"], library, {}).values()), "one is not kept"


def test_a_node_of_a_flow_costs_what_its_type_does_unless_its_task_has_a_price() -> None:
    costs: JsonObject = {"mine": 5, "two": 9, "gate": 3}
    library: Library = library_from({**LIBRARY, "project": {"settings": {"credits": {"costs": costs}}}}).require()
    types = {"a": "mine", "c": "mine", "d": "mine"}
    assert prices_of(library.workflows["w"], library, types) == {"a": 9, "c": 5, "d": 5}


def test_an_agent_costs_what_is_written_for_agents() -> None:
    asks = Workflow("w", "a", {"a": Node(AgentTarget("x"))})
    assert prices_of(asks, Library(settings={"credits": {"costs": {"agent": 4}}}), {}) == {"a": 4}


@pytest.mark.parametrize(
    ("settings", "then"),
    [
        pytest.param({"credits": {"balance": 5}}, 5, id="as it says"),
        pytest.param({"credits": {"balance": 0}}, 0, id="nothing is a balance too"),
        pytest.param({}, None, id="without one there is no limit"),
        pytest.param({"credits": {"balance": True}}, None, id="true is no number"),
        pytest.param({"credits": {"balance": -1}}, None, id="nor is there less than nothing"),
    ],
)
def test_what_an_account_is_opened_with(settings: JsonObject, then: int | None) -> None:
    assert balance_of(settings) == then
