"""Every way in which an order can end."""

from pathlib import Path

import pytest
import services as services  # its functions register themselves

from jeton.testing import plan_from_seed, simulate

ORDER = Path(__file__).with_name("order.yaml")
GIVEN = {"order": "A-1", "amount": 80}


def test_an_order_is_shipped() -> None:
    run = simulate(ORDER, GIVEN)
    assert run.completed() == {"status": "shipped"}
    assert run.called == ["reserve", "charge", "ship"]


@pytest.mark.parametrize("broken", ["reserve", "charge", "ship"])
def test_whatever_fails_is_taken_back(broken: str) -> None:
    run = simulate(ORDER, GIVEN, fail={broken: "out of order"})
    assert run.completed() == {"status": "cancelled", "why": "out of order"}
    assert run.called[-2:] == ["refund", "release"]


def test_a_service_that_is_down_for_a_moment_does_no_harm() -> None:
    assert simulate(ORDER, GIVEN, fail={"charge": 3}).completed() == {"status": "shipped"}


def test_crashes_change_nothing() -> None:
    for seed in range(20):
        run = simulate(ORDER, GIVEN, seed=seed, plan=plan_from_seed(seed))
        assert run.completed() == {"status": "shipped"}
