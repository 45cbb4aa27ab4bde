"""What functions may give back: by the same rules as input, and what breaks them is named with its place."""

import dataclasses
import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.executor.http.body import BodyRefused, as_json
from jeton.executor.python.action import action
from jeton.executor.python.results import BadResult, to_json
from jeton.model.failure import TaskFailed
from jeton.model.json import Json, JsonObject
from tests.executor.given import run, task


def nested(levels: int) -> Json:
    value: Json = 1
    for _ in range(levels):
        value = [value]
    return value


@dataclasses.dataclass
class Measured:
    mean: float | None


def test_what_is_plain_comes_back_as_it_was() -> None:
    rows: JsonObject = {"rows": [{"n": index, "none": None, "text": "1" * 30} for index in range(200)]}
    assert to_json(rows) == rows
    assert to_json({1: None, "t": (1, None), "at": datetime(2026, 5, 4, tzinfo=UTC)}) == {
        "1": None,
        "t": [1, None],
        "at": "2026-05-04T00:00:00Z",
    }
    assert to_json(Measured(None)) == {"mean": None}
    assert to_json([2**63 - 1, -(2**63), 1.5e300]) == [2**63 - 1, -(2**63), 1.5e300]
    assert to_json(nested(100)) == nested(100)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        pytest.param(math.nan, "result: nan is not a JSON number", id="nan itself"),
        pytest.param({"a": [1, math.nan], "b": None}, r"result\.a\[1\]: nan is not a JSON number", id="nan inside"),
        pytest.param(Measured(-math.inf), r"result\.mean: -inf is not a JSON number", id="infinity in a dataclass"),
        pytest.param({"n": 10**40}, r"result\.n: this number does not fit 64 bits", id="a large number"),
        pytest.param([2**63], r"result\[0\]: this number does not fit 64 bits", id="one too many"),
        pytest.param([-(2**63) - 1], r"result\[0\]: this number does not fit 64 bits", id="one too few"),
        pytest.param([10**5000], r"result\[0\]: this number does not fit 64 bits", id="thousands of digits"),
        pytest.param(nested(101), "nested more than 100 levels deep", id="one level too deep"),
        pytest.param(nested(900), "nested more than 100 levels deep", id="deep"),
        pytest.param(nested(100_000), "nested more than 100 levels deep", id="deeper than the stack"),
        pytest.param({"t": "\ud800"}, r"result\.t: has an unpaired surrogate", id="half a character"),
    ],
)
def test_what_cannot_be_kept_is_named(value: object, problem: str) -> None:
    with pytest.raises(BadResult, match=problem):
        to_json(value)


def test_only_the_first_of_many_are_named() -> None:
    with pytest.raises(BadResult, match=r"result\[4\]: .*; and 95 more$"):
        to_json([math.nan] * 100)


def test_the_body_of_an_answer_is_held_to_the_bounds_too() -> None:
    assert as_json(b'{"n": [1, null]}') == {"n": [1, None]}
    for body, problem in ((b"[1" + b"0" * 40 + b"]", "64 bits"), (b"[" * 101 + b"]" * 101, "100 levels")):
        with pytest.raises(BodyRefused, match=problem) as refused:
            as_json(body)
        assert refused.value.type == "bad_result"


@action
async def gives_nan() -> dict[str, float]:
    """Divides nothing by nothing."""
    return {"mean": math.nan}


@action
def gives_depth() -> Any:
    """In a thread."""
    return nested(900)


@action
async def raises_half() -> None:
    """An error that quotes what it was given."""
    raise LookupError("no such name: \ud800")


@pytest.mark.parametrize(
    ("function", "type", "message"),
    [
        pytest.param(gives_nan, "bad_result", "result.mean: nan is not a JSON number", id="nan"),
        pytest.param(raises_half, "LookupError", "no such name: ?", id="an error with half a character"),
    ],
)
def test_it_fails_its_task(function: Any, type: str, message: str) -> None:
    failed = run(task(function.action))
    assert isinstance(failed, TaskFailed)
    assert (failed.type, failed.message) == (type, message)
    assert (failed.stack is None) == (type == "bad_result")
    assert failed.stack is None or failed.stack.isascii()


@jeton.node
async def steps_on_nan(step: Any) -> Json:
    """Takes a step that gives nothing that can be kept."""
    return {"x": await step.run("count", lambda: [math.inf])}


@jeton.node
async def publishes_much(publish: Any) -> Json:
    """Publishes a number that is too large."""
    await publish("order.placed", {"n": 10**30})
    return {}


@pytest.mark.parametrize(
    ("type", "error"),
    [
        pytest.param("steps_on_nan", "step 'count'[0]: inf is not a JSON number", id="a step"),
        pytest.param("publishes_much", "data.n: this number does not fit 64 bits; send it as text", id="an event"),
    ],
)
async def test_nor_do_steps_and_events_keep_it(tmp_path: Path, type: str, error: str) -> None:
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy({"flows": {"f": {"nodes": {"a": {"type": type}}, "connections": []}}})
        record = await (await engine.start("f", {})).result(30)
        assert record.nodes["a"].status == "failed"
        assert error in str(record.nodes["a"].error)
        assert await engine.emitted() == ()


async def test_a_result_that_is_too_deep_is_its_tasks_failure_and_no_bug_of_ours(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy({"workflows": {"w": {"initial_node": "a", "nodes": {"a": {"action": "gives_depth"}}}}})
        record = await (await engine.start("w", {})).result(30)
        assert record.error is not None
        assert record.error.type == "bad_result"
        assert record.error.message.endswith("is nested more than 100 levels deep")
