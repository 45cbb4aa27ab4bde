"""Every fan-out of a run and how far its branches are."""

import pytest

from jeton.engine.views.groups import group_views
from jeton.model.json import Json
from tests.engine.views.journals import FAILS, PANEL, branches_take, told, up_to

THREE: Json = {"judges": ["a", "b", "c"]}


def test_a_fan_out_while_branches_are_under_way() -> None:
    panel = told(PANEL, THREE, {"judge": branches_take(9, 1, 5)})
    (group,) = group_views(up_to(panel, 2).entries)
    assert (group.name, group.node, group.total) == ("ask", "ask", 3)
    assert (group.settled, group.arrived, group.joins_at, group.over) == (1, 1, "tally", False)


@pytest.mark.parametrize(
    ("input", "fails", "then"),
    [
        pytest.param(THREE, False, (2, 2), id="a quorum of two needs no third"),
        pytest.param({"judges": []}, False, (0, 0), id="an empty fan-out is over at once"),
        pytest.param({"judges": ["a", "b"]}, True, (1, 0), id="a lost branch is settled and has not arrived"),
    ],
)
def test_a_fan_out_that_is_over(input: Json, fails: bool, then: tuple[int, int]) -> None:
    answers = {"judge": FAILS} if fails else {"judge": branches_take(1, 5, 9)}
    (group,) = group_views(told(PANEL, input, answers).entries)
    assert (group.settled, group.arrived) == then
