"""`@jeton.node`: what a function is called with, what it may do, and what is not done twice."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict

import pytest

import jeton
from jeton import DefinitionError
from jeton.executor import ActionFunction
from jeton.executor.event_sink import MemoryEventSink
from jeton.executor.task.run_task import TaskResult
from jeton.model.definition.profile import ModelProfile
from jeton.model.json import Json, JsonObject
from jeton.model.note import TokensNote
from tests.executor.actions.given_action import Bench, failed, succeeded


class Sum(TypedDict):
    result: float


async def done(bench: Bench, function: ActionFunction[..., Any], inputs: JsonObject | None = None) -> TaskResult:
    given: JsonObject = {"inputs": inputs or {}, "data": {"d": 1}, "context": {"c": 2}, "node_id": "n"}
    return await bench.call(function.action, given)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@jeton.node
async def asks_for_all(
    inputs: dict[str, Any], data: dict[str, Any], context: Mapping[str, Any], node_id: str
) -> dict[str, Any]:
    """Everything it can know."""
    return {"all": [inputs, data, context, node_id]}


@jeton.node
def adds(a: float, b: float, *, times: int = 1) -> Sum:
    return {"result": (a + b) * times}


@jeton.node
def accepts(a: float, b: float | None, c: Any) -> dict[str, Any]:
    return {"b": b, "c": c}


@jeton.node
def takes_the_rest(a: int, **rest: Any) -> dict[str, Any]:
    return {"rest": rest}


@jeton.node
def lies(a: int) -> Sum:
    wrong: Any = "text"
    return {"result": wrong}


@jeton.node
def writes_to_its_context(context: Any) -> dict[str, Any]:
    context["c"] = 3
    return {}


async def test_a_node_is_given_what_it_asks_for(bench: Bench) -> None:
    assert await done(bench, asks_for_all, {"x": 1}) == {"all": [{"x": 1}, {"d": 1}, {"c": 2}, "n"]}


@pytest.mark.parametrize(
    ("function", "inputs", "then"),
    [
        pytest.param(adds, {"a": 1, "b": 2}, {"result": 3}, id="handles as parameters"),
        pytest.param(adds, {"a": 1, "b": 2, "times": 2}, {"result": 6}, id="a handle with a default, given"),
        pytest.param(accepts, {"a": 1}, {"b": None, "c": None}, id="a missing input is None"),
        pytest.param(takes_the_rest, {"a": 1, "x": 2}, {"rest": {"x": 2}}, id="the rest"),
    ],
)
async def test_inputs(bench: Bench, function: ActionFunction[..., Any], inputs: JsonObject, then: Json) -> None:
    assert await done(bench, function, inputs) == then


@pytest.mark.parametrize(
    ("function", "inputs", "type", "message"),
    [
        pytest.param(adds, {"a": 1}, "input_invalid", "Missing required input: b", id="there must be one"),
        pytest.param(adds, {"a": 1, "b": "x"}, "input_invalid", "input 'b': Expected `float`", id="another type"),
        pytest.param(lies, {"a": 1}, "output_invalid", "result", id="outputs that its hint does not allow"),
        pytest.param(writes_to_its_context, {}, "TypeError", "item assignment", id="a context is to be read"),
    ],
)
async def test_a_node_that_fails(
    bench: Bench, function: ActionFunction[..., Any], inputs: JsonObject, type: str, message: str
) -> None:
    failure = failed(await done(bench, function, inputs))
    assert failure.type == type
    assert message in failure.message


async def test_in_a_token_graph_the_input_is_its_inputs(bench: Bench) -> None:
    assert await bench.call(adds.action, {"a": 1, "b": 2}) == {"result": 3}


def test_called_directly_it_is_the_function_it_was() -> None:
    assert adds(1, 2) == {"result": 3}
    assert adds.action.kind == "node"


def test_a_positional_parameter_has_no_name_to_give_it_by() -> None:
    def positional_node(a: int, /) -> None: ...

    with pytest.raises(DefinitionError, match="positional-only"):
        jeton.node(positional_node)


# steps


class Flaky:
    """What a node does outside, and where it fails."""

    def __init__(self) -> None:
        self.made: list[str] = []
        self.fails = True

    def make(self, what: str) -> str:
        self.made.append(what)
        return what

    def stumble(self) -> None:
        if self.fails:
            raise RuntimeError("in the middle")


WORLD = Flaky()


@jeton.node
async def steps(step: jeton.Steps, publish: jeton.Publisher) -> dict[str, Any]:
    async def second() -> str:
        return WORLD.make("second")

    first = await step.run("first", lambda: WORLD.make("first"))
    await publish("node.stepped", {"first": first})
    WORLD.stumble()
    return {"made": [first, await step.run("second", second)]}


@jeton.node
def blocking_steps(step: jeton.BlockingSteps, publish: jeton.BlockingPublisher) -> dict[str, Any]:
    first = step.run("first", lambda: WORLD.make(f"first of {jeton.current_call().node}"))
    publish("node.stepped", {"first": first})
    WORLD.stumble()
    return {"made": [first, step.run("second", lambda: WORLD.make("second"))]}


@pytest.mark.parametrize("function", [steps, blocking_steps])
async def test_what_was_done_is_not_done_again(
    tmp_path: Path, function: ActionFunction[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    event_sink = MemoryEventSink()
    bench = Bench(tmp_path, event_sink=event_sink)
    monkeypatch.setattr("tests.executor.actions.test_node.WORLD", Flaky())
    assert failed(await done(bench, function)).message == "in the middle"
    WORLD.fails = False
    made = succeeded(await done(bench, function))["made"]
    assert WORLD.made == made
    assert len(WORLD.made) == 2
    assert len(event_sink.events) == 1


async def test_another_run_does_it_itself(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.executor.actions.test_node.WORLD", Flaky())
    WORLD.fails = False
    await bench.call(steps.action, {}, run="r1")
    await bench.call(steps.action, {}, run="r2")
    assert WORLD.made == ["first", "second", "first", "second"]


KEYS: list[str] = []


def remember_key() -> None:
    KEYS.append(jeton.current_call().idempotency_key)


@jeton.node
async def keyed_steps(step: jeton.Steps) -> dict[str, Any]:
    async def outer() -> None:
        remember_key()
        await step.run("inner", remember_key)
        remember_key()

    remember_key()
    await step.run("outer", outer)
    await step.run("Gebühr: 1", remember_key)
    remember_key()
    WORLD.stumble()
    return {}


@jeton.node
def blocking_keyed_steps(step: jeton.BlockingSteps) -> dict[str, Any]:
    def outer() -> None:
        remember_key()
        step.run("inner", remember_key)
        remember_key()

    remember_key()
    step.run("outer", outer)
    step.run("Gebühr: 1", remember_key)
    remember_key()
    WORLD.stumble()
    return {}


@pytest.mark.parametrize("function", [keyed_steps, blocking_keyed_steps])
async def test_each_step_has_an_idempotency_key_of_its_own(
    tmp_path: Path, function: ActionFunction[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.executor.actions.test_node.WORLD", Flaky())
    node, outer, inner, fee = "r1:7:1:s0", "r1:7:1:s0:outer", "r1:7:1:s0:inner", "r1:7:1:s0:Geb%C3%BChr%3A%201"
    for _ in range(2):  # with a store that has forgotten the steps, as after a crash before they were stored
        KEYS.clear()
        assert failed(await done(Bench(tmp_path), function)).message == "in the middle"
        assert list(KEYS) == [node, outer, inner, outer, fee, node]


@jeton.node
async def calls_a_model(step: jeton.Steps) -> None:
    await step.run("ask", lambda: jeton.current_call().tokens("fast", input=3))


async def test_a_step_can_report_the_tokens_of_a_model(bench: Bench) -> None:
    bench.profiles = {"fast": ModelProfile("p", "m")}
    succeeded(await done(bench, calls_a_model))
    assert TokensNote("s0", "fast", 3, 0) in bench.heard


@jeton.node
async def same_name_twice(step: jeton.Steps) -> dict[str, Any]:
    return {"a": await step.run("a", lambda: 1), "b": await step.run("a", lambda: 2)}


async def test_a_step_has_a_name_of_its_own(bench: Bench) -> None:
    assert "its own name" in failed(await done(bench, same_name_twice)).message


@jeton.node
async def publishes_nonsense(publish: jeton.Publisher) -> None:
    await publish("no spaces, please")


async def test_an_event_needs_a_proper_name(bench: Bench) -> None:
    assert "is not a valid event name" in failed(await done(bench, publishes_nonsense)).message
