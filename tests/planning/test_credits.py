"""What an account answers, what a run does for those below it, and what nodes cost."""

import pytest

from jeton.apply.draft import Draft
from jeton.apply.fold import fold
from jeton.apply.timers import Timers
from jeton.definitions import library_from
from jeton.model.decision import Decision, LendCredits, ReclaimCredits
from jeton.model.failure import BrokenInvariant
from jeton.model.ids import RunId
from jeton.model.json import JsonObject
from jeton.model.message import CreditsAsked, CreditsClosed, CreditsGranted
from jeton.model.state.credits import Purse
from jeton.model.state.run import Head, RunState
from jeton.planning.credits import plan_account, serve
from jeton.planning.program.compile import compile_definition

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


def root(purse: Purse | None, **lent: int) -> RunState:
    state = RunState(Head(RUN, "w", purse=purse))
    state.lent = {RunId(run.replace("_", ".")): amount for run, amount in lent.items()}
    return state


@pytest.mark.parametrize(
    ("state", "message", "then"),
    [
        pytest.param(root(Purse(free=9)), CreditsAsked(5, BELOW, 4), [LendCredits(BELOW, 4)], id="there is enough"),
        pytest.param(root(Purse(free=3)), CreditsAsked(5, BELOW, 4), [LendCredits(BELOW, 3)], id="some: all of it"),
        pytest.param(root(Purse()), CreditsAsked(5, BELOW, 4), [LendCredits(BELOW, 0)], id="nothing: that is said"),
        pytest.param(
            root(Purse(free=9, short=True)),
            CreditsAsked(5, BELOW, 4),
            [LendCredits(BELOW, 0)],
            id="it is short itself: nothing new begins below either",
        ),
        pytest.param(root(None), CreditsAsked(5, BELOW, 4), [], id="a run without a purse lends nothing"),
        pytest.param(
            root(Purse(), r_1=4), CreditsClosed(5, BELOW, 3), [ReclaimCredits(BELOW, 3)], id="what was not used is back"
        ),
        pytest.param(root(Purse(free=2)), CreditsClosed(5, BELOW, 0), [], id="who had nothing brings nothing back"),
    ],
)
def test_what_a_run_does_for_those_it_pays_for(
    state: RunState, message: CreditsAsked | CreditsClosed, then: list[Decision]
) -> None:
    assert plan_account(state, message) == then


@pytest.mark.parametrize(
    ("purse", "lent", "decision", "then", "left"),
    [
        pytest.param(Purse(free=9), {}, LendCredits(BELOW, 4), Purse(free=5), {BELOW: 4}, id="lent"),
        pytest.param(Purse(free=9), {BELOW: 2}, LendCredits(BELOW, 4), Purse(free=5), {BELOW: 6}, id="lent again"),
        pytest.param(Purse(free=9), {}, LendCredits(BELOW, 0), Purse(free=9), {}, id="nothing lent is not kept"),
        pytest.param(Purse(free=1), {BELOW: 6}, ReclaimCredits(BELOW, 4), Purse(free=3, below=4), {}, id="reclaimed"),
        pytest.param(Purse(free=3), {}, LendCredits(BELOW, 4), None, {}, id="more than there is: our bug"),
        pytest.param(Purse(), {BELOW: 3}, ReclaimCredits(BELOW, 4), None, {}, id="more used than given: our bug"),
        pytest.param(Purse(), {}, ReclaimCredits(BELOW, 0), None, {}, id="given back twice: our bug"),
    ],
)
def test_what_lending_does_to_a_purse(
    purse: Purse, lent: dict[RunId, int], decision: Decision, then: Purse | None, left: dict[RunId, int]
) -> None:
    state = root(purse)
    state.lent = dict(lent)
    draft = Draft(state, Timers(state))
    if then is None:
        with pytest.raises(BrokenInvariant):
            fold(draft, decision)
        return
    fold(draft, decision)
    assert (state.head.purse, state.lent) == (then, left)


@pytest.mark.parametrize(
    ("costs", "prices"),
    [
        pytest.param({}, (1, 1, 1, 1), id="one each"),
        pytest.param({"default": 4}, (4, 4, 4, 4), id="a default"),
        pytest.param({"two": 9, "gate": 0, "pass": 2}, (9, 1, 0, 2), id="by task, by type"),
        pytest.param({"mock": 3}, (6, 3, 1, 1), id="by kind, for every step"),
        pytest.param({"mock": 3, "named": 5}, (8, 3, 1, 1), id="by the action's name before its kind"),
    ],
)
def test_what_nodes_cost(costs: JsonObject, prices: tuple[int, ...]) -> None:
    mock: JsonObject = {"kind": "mock"}
    library = library_from(
        {
            "workflows": {
                "w": {
                    "initial_node": "a",
                    "nodes": {"a": {"task": "two"}, "b": {"action": mock}, "c": {"gate": {"title": "?"}}, "d": {}},
                    "transitions": [{"from": f, "to": t} for f, t in ("ab", "bc", "cd")],
                }
            },
            "tasks": {"two": {"steps": [{"ref": "x", "action": mock}, {"ref": "y", "action": "named"}]}},
            "actions": {"named": mock},
            "project": {"settings": {"credits": {"costs": costs}}},
        }
    ).require()
    program = compile_definition(library, "w")
    assert tuple(program.price(node) for node in "abcd") == prices
