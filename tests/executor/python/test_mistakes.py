"""Mistakes in Python definitions, each with an error that says what to write."""

import gc
import re
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.executor.python.functions import FunctionMissing, find_function
from jeton.model.definition.task import Execution
from tests.executor.actions.given_action import Bench, failed


def undecorated(text: str) -> str:
    return text


@jeton.action
def echoed(text: str) -> str:
    return text


@pytest.mark.parametrize(
    ("node", "where"),
    [
        pytest.param({"action": undecorated}, "nodes.a.action", id="as the action of a node"),
        pytest.param({"task": {"steps": [{"action": undecorated}]}}, r"nodes.a.task.steps\[0\].action", id="of a step"),
        pytest.param({"action": lambda: 1}, "nodes.a.action", id="a lambda"),
    ],
)
def test_an_undecorated_function(node: Any, where: str) -> None:
    remedy = "write @jeton.action above its definition"
    with pytest.raises(jeton.DefinitionError, match=f"workflows.w.{where}: is a plain function.*{remedy}"):
        jeton.Workflow("w").node("a", **node)


def test_a_mapping_with_an_object() -> None:
    with pytest.raises(jeton.DefinitionError, match=r"input_mapping: contains an object of the type 'object'.*use a"):
        jeton.Workflow("w").node("a", input={"client": object()})


@pytest.mark.parametrize("decorator", [jeton.action, jeton.node, jeton.action(name="named"), jeton.node(name="named")])
def test_a_lambda(decorator: Any) -> None:
    with pytest.raises(jeton.DefinitionError, match=r"is a lambda.*write a function with def"):
        decorator(lambda: 1)


async def test_a_decorated_function_in_a_step(tmp_path: Path) -> None:
    workflow = jeton.Workflow("w")
    workflow.node("a", task={"steps": [{"action": echoed}, {"action": "echoed"}]}, output={"output.all": "result"})
    async with jeton.open(tmp_path / "w.db") as engine:
        record = await (await engine.start(workflow, {"text": "hi"})).result()
    assert record.output == {"all": {"result": "hi"}}


def test_a_step_that_is_no_step() -> None:
    workflow = jeton.Workflow("w")
    workflow.node("a", task={"steps": "none"})
    workflow.node("b", task={"steps": ["none"]})
    assert workflow.definition()["workflows"]


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        pytest.param(object(), "result: an object of the type 'object' is not plain data: return", id="an object"),
        pytest.param({"a": [1, object()]}, r"result\.a\[1\]: an object of the type 'object' is", id="inside"),
        pytest.param((Path,), r"result\[0\]: an object of the type 'type' is", id="a class"),
        pytest.param({"a": undecorated}, r"result\.a: an object of the type 'function' is", id="a function"),
    ],
)
async def test_a_result_that_is_no_plain_data(bench: Bench, value: Any, problem: str) -> None:
    @jeton.action(name="gives_no_plain_data")
    async def gives() -> Any:
        return value

    failure = failed(await bench.call(gives.action))
    assert failure.type == "bad_result"
    assert re.match(problem, failure.message)
    assert "a dataclass, TypedDict, msgspec Struct, pydantic model or plain type" in failure.message


async def test_a_step_whose_result_is_no_plain_data(bench: Bench) -> None:
    @jeton.node(name="step_gives_no_plain_data")
    async def gives(step: jeton.Steps) -> None:
        await step.run("connect", object)

    failure = failed(await bench.call(gives.action))
    assert (failure.type, failure.message.partition(":")[0]) == ("bad_result", "step 'connect'")
    assert 'await step.run("connect", object)' in (failure.stack or "")


def test_a_hint_without_a_schema() -> None:
    with pytest.raises(jeton.DefinitionError) as caught:

        @jeton.action
        def gives_object() -> object: ...

    (problem,) = caught.value.problems
    assert problem.problem == "its result has no JSON Schema: type <class 'object'> is not supported"
    assert problem.remedy == "use a dataclass, TypedDict, msgspec Struct, pydantic model or plain type, or Any"


def test_retry_as_a_policy_or_as_options() -> None:
    @jeton.action(name="retried_by_policy", retry=jeton.RetryPolicy(3, "exponential"))
    def by_policy() -> None: ...

    @jeton.action(name="retried_by_options", retry={"max_attempts": 3, "backoff": "exponential"})
    def by_options() -> None: ...

    @jeton.node(name="retried_node", retry={"max_attempts": 3, "backoff": "exponential"})
    def of_a_node() -> None: ...

    expected = Execution(retry_policy=jeton.RetryPolicy(3, "exponential"))
    assert [each.action.execution for each in (by_policy, by_options, of_a_node)] == [expected] * 3


@pytest.mark.parametrize(
    ("retry", "problem"),
    [
        pytest.param({"attempts": 3}, "unknown field `attempts`", id="another key"),
        pytest.param({"max_attempts": "3"}, "Expected `int`, got `str`", id="another type"),
        pytest.param({"max_attempts": 0}, "max_attempts must be at least 1", id="no attempt at all"),
        pytest.param(3, "Expected `object`, got `int`", id="a number"),
    ],
)
def test_a_retry_that_is_none(retry: Any, problem: str) -> None:
    with pytest.raises(jeton.DefinitionError, match=rf'retry: .*{problem}.*write retry={{"max_attempts": 3'):

        @jeton.action(name="retried_wrongly", retry=retry)
        def wrong() -> None: ...


def test_a_function_that_is_not_registered_any_more() -> None:
    with pytest.raises(FunctionMissing, match=r"defined inside another, move it to the top level of a module"):
        find_function("nowhere_registered")


async def greeted(name: str) -> str:
    return f"hello {name}"


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("is_async", [False, True])
async def test_a_result_that_was_not_awaited(bench: Bench, is_async: bool, nested: bool) -> None:
    @jeton.action(name="forgets_await")
    async def forgets() -> Any:
        return {"said": [greeted("you")]} if nested else greeted("you")

    @jeton.action(name="cannot_await")
    def cannot() -> Any:
        return {"said": [greeted("you")]} if nested else greeted("you")

    failure = failed(await bench.call((forgets if is_async else cannot).action))
    assert failure.type == "bad_result"
    where = "result.said[0]" if nested else "result"
    assert failure.message == (
        f"{where}: 'greeted' was called and not awaited: write 'await greeted(…)', in a function with 'async def'"
    )
    gc.collect()  # Python would warn here of a coroutine that was never awaited
