"""Whether a fan-in opens now, waits, or can no longer open."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeton.model.definition.workflow import MOfN, Strategy
from jeton.planning.tokens.fan_in import FanInVerdict, fan_in_verdict


@pytest.mark.parametrize(
    ("strategy", "arrived", "live", "then"),
    [
        pytest.param("all", 2, 1, "waits", id="all waits while a slot is live"),
        pytest.param("all", 2, 0, "opens", id="all opens when none is"),
        pytest.param("all", 0, 0, "opens", id="all opens empty when every slot is lost"),
        pytest.param("any", 0, 2, "waits", id="any waits for the first"),
        pytest.param("any", 1, 2, "opens", id="any opens with the first"),
        pytest.param("any", 0, 0, "fails", id="any fails when every slot is lost"),
        pytest.param(MOfN(2), 1, 1, "waits", id="a quorum waits while it can be reached"),
        pytest.param(MOfN(2), 2, 5, "opens", id="a quorum opens with the last it needs"),
        pytest.param(MOfN(3), 1, 1, "fails", id="a quorum fails as soon as too few can still arrive"),
    ],
)
def test_a_fan_in(strategy: Strategy, arrived: int, live: int, then: FanInVerdict) -> None:
    assert fan_in_verdict(strategy, arrived, live) == then


@given(st.lists(st.booleans(), min_size=1, max_size=12), st.integers(1, 12))
def test_a_quorum_is_decided_exactly_once_in_every_order(arrives: list[bool], needed: int) -> None:
    arrived, live, decided = 0, len(arrives), 0
    for arrives_now in arrives:
        arrived, live = arrived + arrives_now, live - 1
        if fan_in_verdict(MOfN(needed), arrived, live) != "waits":
            decided += 1
            break
    assert decided == 1
    assert (fan_in_verdict(MOfN(needed), arrived, live) == "opens") == (arrived >= needed)
