"""The stack of a task that raised: the frames of its own code, and none of jeton's."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.executor import ActionFunction
from jeton.executor.python.stack import stack_of
from jeton.model.definition.task import Action
from tests.executor.actions.given_action import Bench, failed
from tests.executor.workers.isolated import raise_deep

HERE = str(Path(__file__))
JETON = str(Path(jeton.__file__).parent)


def stumble() -> None:
    raise LookupError("no such order")


@jeton.action
async def raises_at_once() -> None:
    stumble()


@jeton.action
def raises_in_a_thread() -> None:
    stumble()


@jeton.node
async def raises_in_a_step(step: jeton.Steps) -> None:
    await step.run("look up", stumble)


@jeton.node
def raises_in_a_blocking_step(step: jeton.BlockingSteps) -> None:
    step.run("look up", stumble)


@jeton.action
def raises_twice() -> None:
    try:
        stumble()
    except LookupError as error:
        raise RuntimeError("gave up") from error


def line_of(function: Callable[..., object], text: str) -> int:
    source = Path(__file__).read_text().splitlines()
    start = source.index(f"def {function.__name__}() -> None:")
    return next(number + 1 for number in range(start, len(source)) if text in source[number])


@pytest.mark.parametrize(
    "function", [raises_at_once, raises_in_a_thread, raises_in_a_step, raises_in_a_blocking_step, raises_twice]
)
async def test_it_has_the_frames_of_the_function_alone(bench: Bench, function: ActionFunction[..., Any]) -> None:
    stack = failed(await bench.call(function.action)).stack or ""
    assert f'File "{HERE}", line {line_of(stumble, "raise")}, in stumble\n    raise LookupError' in stack
    assert f"in {function.name}\n" in stack
    assert JETON not in stack
    assert not [line for line in stack.splitlines() if "/asyncio/" in line or "/concurrent/" in line]


async def test_it_names_every_exception_of_a_chain(bench: Bench) -> None:
    stack = failed(await bench.call(raises_twice.action)).stack or ""
    assert "LookupError: no such order\n\nThe above exception was the direct cause" in stack
    assert stack.endswith("RuntimeError: gave up\n")


async def test_a_process_sends_its_stack(bench: Bench) -> None:
    isolated = Action("python", raise_deep.action.implementation, isolation="process")
    stack = failed(await bench.call(isolated, {"secret": "x"})).stack or ""
    assert stack.startswith('Traceback (most recent call last):\n  File "')
    assert "isolated.py" in stack.splitlines()[1]
    assert "in raise_deep" in stack
    assert JETON not in stack


@jeton.action
async def gives_infinity() -> float:
    return float("inf")


async def test_a_bad_result_has_no_stack(bench: Bench) -> None:
    assert failed(await bench.call(gives_infinity.action)).stack is None


def test_what_jeton_raises_by_itself_keeps_its_frames() -> None:
    with pytest.raises(jeton.Refused) as caught:
        jeton.current_call()
    assert caught.tb.tb_next is not None
    stack = stack_of(caught.value.with_traceback(caught.tb.tb_next))
    assert "call.py" in (stack or "")


@pytest.mark.parametrize("on_error", ["continue", "fail"])
async def test_the_error_of_a_flow_has_it_too(tmp_path: Path, on_error: str) -> None:
    flow = {"nodes": {"a": {"type": "raises_at_once"}}, "on_error": on_error}
    async with jeton.open(tmp_path / "flow.db") as engine:
        await engine.deploy({"flows": {"stumbling": flow}})
        record = await (await engine.start("stumbling")).result()
    assert "in stumble\n" in (record.error_stack or "")
