"""What an account answers, and what nodes cost."""

import pytest

from jeton.definitions import library_from
from jeton.model.ids import RunId
from jeton.model.json import JsonObject
from jeton.model.message import CreditsAsked, CreditsClosed, CreditsGranted
from jeton.planning.compile import compile_definition
from jeton.planning.credits import serve

RUN = RunId("r")


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
