"""The keys by which any node steers its run."""

from typing import Any

import pytest

from jeton.model.failure import TaskFailed
from jeton.model.json import Json
from jeton.model.state.flow_run import Executed, WaitingNode
from jeton.planning.flow.control_keys import SplitResult, read_result, read_split_result

A_HUNDRED_YEARS = 3_162_240_000
NOW = 1_800_000_000_000  # 2027-01-15T08:00:00Z


@pytest.mark.parametrize(
    ("given", "then"),
    [
        pytest.param(None, Executed({}), id="nothing is no outputs"),
        pytest.param({"k": 1}, Executed({"k": 1}), id="outputs"),
        pytest.param({"k": 1, "_branch": "x"}, Executed({"k": 1}, "x"), id="a branch is taken out"),
        pytest.param({"k": 1, "_wait": {"seconds": 2}}, WaitingNode(Executed({"k": 1}), NOW + 2000), id="a wait"),
        pytest.param(
            {"_branch": "x", "_wait": {"seconds": 0.5, "label": "nap"}},
            WaitingNode(Executed({}, "x"), NOW + 500, "nap"),
            id="a wait with a label, and then a branch",
        ),
        pytest.param(
            {"_wait_until": {"timestamp": "2027-01-15T08:00:01Z"}},
            WaitingNode(Executed({}), NOW + 1000, wall=True),
            id="a time",
        ),
        pytest.param(
            {"_wait_until": {"timestamp": "2027-01-15t08:00:01z"}},
            WaitingNode(Executed({}), NOW + 1000, wall=True),
            id="a time in small letters",
        ),
        pytest.param(
            {"_waitUntil": {"timestamp": "2027-01-15T09:00:01+01:00", "label": "l"}},
            WaitingNode(Executed({}), NOW + 1000, "l", wall=True),
            id="a time under the other spelling of its key",
        ),
        pytest.param(
            {"_wait_until": {"timestamp": "2001-01-01T00:00:00Z"}},
            WaitingNode(Executed({}), 978_307_200_000, wall=True),
            id="a past time, which the system clock has reached",
        ),
    ],
)
def test_what_a_result_says(given: Json, then: Any) -> None:
    assert read_result(given, NOW) == then


@pytest.mark.parametrize(
    "given",
    [
        pytest.param([1], id="a result that is a list"),
        pytest.param({"_branch": ""}, id="a branch without a name"),
        pytest.param({"_branch": 3}, id="a branch that is a number"),
        pytest.param({"_branch": None}, id="a branch that is null"),
        pytest.param({"_wait": {"seconds": 0}}, id="a wait of 0"),
        pytest.param({"_wait": {"seconds": -1}}, id="a negative wait"),
        pytest.param({"_wait": {"seconds": "2"}}, id="a wait that is a text"),
        pytest.param({"_wait": {"seconds": True}}, id="a wait that is true"),
        pytest.param({"_wait": {"seconds": float("nan")}}, id="a wait that is no number"),
        pytest.param({"_wait": {"seconds": 1e300}}, id="a wait for ever"),
        pytest.param({"_wait": 5}, id="a wait that is no object"),
        pytest.param({"_wait": {"minutes": 5}}, id="a wait in minutes"),
        pytest.param({"_wait": {"seconds": 5, "label": 3}}, id="a label that is a number"),
        pytest.param({"_wait_until": {"timestamp": "2027-01-15T08:00:00"}}, id="a time without a zone"),
        pytest.param({"_wait_until": {"timestamp": "tomorrow"}}, id="a time in words"),
        pytest.param({"_wait_until": {"timestamp": 5}}, id="a time that is a number"),
        pytest.param({"_wait": {"seconds": 1}, "_waitUntil": {"timestamp": "2027-01-15T08:00:00Z"}}, id="two waits"),
    ],
)
def test_a_malformed_control_key_fails_the_node(given: Json) -> None:
    """G08"""
    failed = read_result(given, NOW)
    assert isinstance(failed, TaskFailed)
    assert failed.type in ("bad_control_key", "bad_result")
    assert len(failed.message) > 20


@pytest.mark.parametrize(
    ("given", "then"),
    [
        pytest.param(SplitResult({"_branch": "x"}), Executed({"_branch": "x"}), id="its outputs are data"),
        pytest.param(SplitResult({"k": 1}, {"_branch": "x"}), Executed({"k": 1}, "x"), id="the keys beside them steer"),
        pytest.param(
            SplitResult({"_wait": 1}, {"_wait": {"seconds": 2}}),
            WaitingNode(Executed({"_wait": 1}), NOW + 2000),
            id="both may be called the same",
        ),
    ],
)
def test_a_result_that_keeps_the_two_apart(given: SplitResult, then: Any) -> None:
    assert read_split_result(given, NOW) == then


@pytest.mark.parametrize(
    ("given", "says"),
    [
        pytest.param({"_wait": {"seconds": 0.0001}}, None, id="a part of a millisecond is rounded up"),
        pytest.param({"_wait": {"seconds": A_HUNDRED_YEARS}}, None, id="a hundred years are not too long"),
        pytest.param({"_wait": {"seconds": A_HUNDRED_YEARS + 1}}, "at most a hundred years", id="one second more is"),
        pytest.param(
            {"_wait": {"seconds": 1, "x": 1}}, "an object with 'seconds', 'x'", id="a key nobody knows is named"
        ),
        pytest.param({"_wait": {}}, "and is an empty object", id="an empty object is called that"),
        pytest.param({"_branch": True}, "and is True", id="a value is shown"),
        pytest.param({"_branch": [1]}, "and is a list", id="or what it is"),
    ],
)
def test_what_is_said_of_a_wait_and_a_branch(given: Json, says: str | None) -> None:
    found = read_result(given, NOW)
    if says is None:
        assert isinstance(found, WaitingNode)
        assert found.due > NOW
    else:
        assert isinstance(found, TaskFailed)
        assert says in found.message
