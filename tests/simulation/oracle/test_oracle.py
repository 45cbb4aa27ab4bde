"""The oracle, rule by rule: every row is a rule of docs/semantics/token-graphs.md, driven by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulation.oracle.oracle import ExpressionFault, MissingKey, tiny_evaluate
from tests.simulation.oracle.rows.fan_in import FAN_IN
from tests.simulation.oracle.rows.fan_out import FAN_OUT
from tests.simulation.oracle.rows.late import LATE, TIMEOUTS
from tests.simulation.oracle.rows.life import LIFE, LIMITS, WAITS
from tests.simulation.oracle.rows.merge import MERGES
from tests.simulation.oracle.rows.nested import NESTED
from tests.simulation.oracle.rows.routing import FAILURES, RETRIES, ROUTING
from tests.simulation.oracle.script import Act, Object, play


@pytest.mark.parametrize(("workflow", "input", "tasks", "acts"), ROUTING)
def test_routing(workflow: Object, input: Object, tasks: Object, acts: tuple[Act, ...]) -> None:
    play(workflow, input, tasks, acts)


@pytest.mark.parametrize(("workflow", "input", "tasks", "acts"), FAILURES)
def test_after_a_failure(workflow: Object, input: Object, tasks: Object, acts: tuple[Act, ...]) -> None:
    play(workflow, input, tasks, acts)


@pytest.mark.parametrize(("workflow", "input", "tasks", "acts"), RETRIES)
def test_business_retries(workflow: Object, input: Object, tasks: Object, acts: tuple[Act, ...]) -> None:
    play(workflow, input, tasks, acts)


@pytest.mark.parametrize(("workflow", "input", "tasks", "acts"), FAN_OUT)
def test_fan_out(workflow: Object, input: Object, tasks: Object, acts: tuple[Act, ...]) -> None:
    play(workflow, input, tasks, acts)


@pytest.mark.parametrize(("workflow", "input", "tasks", "acts"), FAN_IN)
def test_fan_in(workflow: Object, input: Object, tasks: Object, acts: tuple[Act, ...]) -> None:
    play(workflow, input, tasks, acts)


@pytest.mark.parametrize(("workflow", "input", "tasks", "acts"), LATE)
def test_slots_still_live_when_a_fan_in_opens(
    workflow: Object, input: Object, tasks: Object, acts: tuple[Act, ...]
) -> None:
    play(workflow, input, tasks, acts)


@pytest.mark.parametrize(("workflow", "input", "tasks", "acts"), TIMEOUTS)
def test_fan_in_timeouts(workflow: Object, input: Object, tasks: Object, acts: tuple[Act, ...]) -> None:
    play(workflow, input, tasks, acts)


@pytest.mark.parametrize(("workflow", "input", "tasks", "acts"), NESTED)
def test_slots_in_slots(workflow: Object, input: Object, tasks: Object, acts: tuple[Act, ...]) -> None:
    play(workflow, input, tasks, acts)


@pytest.mark.parametrize(("workflow", "input", "tasks", "acts"), MERGES)
def test_merge(workflow: Object, input: Object, tasks: Object, acts: tuple[Act, ...]) -> None:
    play(workflow, input, tasks, acts)


@pytest.mark.parametrize(("workflow", "input", "tasks", "acts"), LIFE)
def test_life_of_a_run(workflow: Object, input: Object, tasks: Object, acts: tuple[Act, ...]) -> None:
    play(workflow, input, tasks, acts)


@pytest.mark.parametrize(("workflow", "input", "tasks", "acts"), WAITS)
def test_waits(workflow: Object, input: Object, tasks: Object, acts: tuple[Act, ...]) -> None:
    play(workflow, input, tasks, acts)


@pytest.mark.parametrize(("workflow", "input", "tasks", "acts"), LIMITS)
def test_limits(workflow: Object, input: Object, tasks: Object, acts: tuple[Act, ...]) -> None:
    play(workflow, input, tasks, acts)


SCOPE: Object = {"a": {"b": 2, "list": [1, 2], "name": "x", "none": None}}


@pytest.mark.parametrize(
    ("source", "value"),
    [
        pytest.param(5, 5, id="what is not a string is a literal"),
        pytest.param("a.b", 2, id="a path"),
        pytest.param("a.list[1]", 2, id="an index"),
        pytest.param("'te' + \"xt\"", "text", id="both quotes"),
        pytest.param("1 + 2 * 3 - 1", 6, id="product before sum"),
        pytest.param("-a.b + 'a' == 1.0 || true", True, id="or does not care on which side the error is"),
        pytest.param("a.gone == 1 && false", False, id="and does not care on which side the error is"),
        pytest.param("!(a.b < 2) && a.b <= 2 && a.b > 1 && a.b >= 2 && a.b != 3", True, id="comparisons"),
        pytest.param("a.b * 1.5 + 1", 4.0, id="beside a double an int becomes one"),
        pytest.param("a.b < 2.5 && 9007199254740993 > 9007199254740992.0", True, id="numbers compare exactly"),
        pytest.param("has(a.b)", True, id="has a key"),
        pytest.param("has(a.gone)", False, id="has no key"),
        pytest.param("size(a.list) + size([])", 2, id="size and list literals"),
        pytest.param("[a.b, 'x', [true, null]]", [2, "x", [True, None]], id="a list of things"),
        pytest.param("a.none == null", True, id="null"),
        pytest.param("a.list + [3]", [1, 2, 3], id="lists can be added"),
        pytest.param("[1] == [1.0] && [true] != [1] && true != 1", True, id="a bool is no number, in a list neither"),
    ],
)
def test_tiny_evaluate(source: Any, value: Any) -> None:
    assert tiny_evaluate(source, SCOPE) == value


@pytest.mark.parametrize(
    ("source", "path"),
    [
        pytest.param("a.gone + 1", "a.gone", id="a key"),
        pytest.param("result.x", "result", id="a variable"),
        pytest.param("!has(a.gone.deeper)", "a.gone", id="has asks for the last key only"),
        pytest.param("a.b == 2 && a.gone", "a.gone", id="and with the other side true"),
    ],
)
def test_tiny_evaluate_misses(source: str, path: str) -> None:
    with pytest.raises(MissingKey) as missing:
        tiny_evaluate(source, SCOPE)
    assert missing.value.path == path


@pytest.mark.parametrize(
    "source", ["1 + 'a'", "'a' < 1", "a.list[2]", "a.b.c", "a.none.c", "!1", "1 +", "(1", "f(1)", "1 1", "#"]
)
def test_tiny_evaluate_refuses(source: str) -> None:
    with pytest.raises(ExpressionFault):
        tiny_evaluate(source, SCOPE)
