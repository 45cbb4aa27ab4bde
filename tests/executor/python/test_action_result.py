"""The result of a node with an action is what the function returned, whatever its type."""

from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.model.json import Json


@jeton.action
def returns_given(value: Any) -> Any:
    return value


@jeton.action
def returns_numbers() -> list[int]:
    return [1, 2, 3]


async def output_of(folder: Path, workflow: jeton.Workflow, **input: Json) -> Any:
    async with jeton.open(folder / "results.db") as engine:
        return (await (await engine.start(workflow, input)).result()).output_or_raise()


VALUES = [
    pytest.param([1, [2]], id="a list"),
    pytest.param("text", id="a text"),
    pytest.param(5, id="a number"),
    pytest.param(False, id="a boolean"),
    pytest.param({"a": 1}, id="an object"),
    pytest.param({"result": 1}, id="an object with a result"),
    pytest.param(None, id="nothing"),
]


@pytest.mark.parametrize("value", VALUES)
async def test_the_result_of_a_node(tmp_path: Path, value: Json) -> None:
    workflow = jeton.Workflow("results")
    node = workflow.node("a", action=returns_given, input={"value": "input.value"}, output={"output.all": "result"})
    after = workflow.node("b", output={"output.routed": True})
    workflow.transition(node, after, condition="result == input.value")
    assert await output_of(tmp_path, workflow, value=value) == {"all": value, "routed": True}


@pytest.mark.parametrize("value", VALUES)
async def test_the_result_of_a_step(tmp_path: Path, value: Json) -> None:
    workflow = jeton.Workflow("steps")
    step = {"action": returns_given.action, "output_mapping": {"output.mapped": "result"}}
    workflow.node("a", task={"steps": [step]}, input={"value": "input.value"}, output={"output.all": "result"})
    assert await output_of(tmp_path, workflow, value=value) == {"all": {"mapped": value}}


async def test_the_result_of_a_step_without_a_mapping(tmp_path: Path) -> None:
    workflow = jeton.Workflow("unmapped")
    workflow.node("a", task={"steps": [{"action": returns_numbers.action}]}, output={"output.all": "result"})
    assert await output_of(tmp_path, workflow) == {"all": {"result": [1, 2, 3]}}


async def test_in_a_branch_it_lands_at_result(tmp_path: Path) -> None:
    workflow = jeton.Workflow("branches")
    start, last = workflow.node("start"), workflow.node("last")
    branch = workflow.node("branch", action=returns_given, input={"value": "item"})
    workflow.transition(start, branch, foreach="input.values", item_var="item")
    workflow.transition(branch, last, synchronization=jeton.join(merge=jeton.merge("output.all")))
    assert await output_of(tmp_path, workflow, values=[1, {"a": 2}]) == {"all": [{"result": 1}, {"a": 2}]}


async def test_a_flow_has_it_on_the_handle_result(tmp_path: Path) -> None:
    flow = jeton.Flow("numbers")
    flow.connect(flow.node("a", returns_numbers), flow.node("b", "sum"), output="result", input="values")
    async with jeton.open(tmp_path / "flow.db") as engine:
        record = await (await engine.start(flow)).result()
    assert record.nodes["a"].outputs == {"result": [1, 2, 3]}
    assert record.nodes["b"].outputs == {"result": 6}


async def test_its_type_is_checked(tmp_path: Path) -> None:
    workflow = jeton.Workflow("typed")
    workflow.node("a", action=returns_numbers, output={"output.all": "result.result"})
    with pytest.raises(jeton.DefinitionError, match="result is list, which has no field 'result'"):
        await output_of(tmp_path, workflow)
