"""A typed function becomes an action, and stays a function."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

import msgspec
import pytest

from jeton.executor import Executor, action_functions
from jeton.executor.python.action import action
from jeton.executor.python.functions import reference_of
from jeton.model.definition.task import Action, Execution, RetryPolicy
from jeton.model.definition.workflow import Library
from jeton.model.effect import StartTask
from jeton.model.failure import DefinitionError
from jeton.model.ids import RunId, TokenId
from jeton.model.json import JsonObject
from tests.executor.given import run, task, unheard

CLOSED: JsonObject = {"x-closed": True}
NUMBERS: JsonObject = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], **CLOSED}


class Tree(msgspec.Struct):
    name: str
    below: list["Tree"] = []


class Leaf(msgspec.Struct):
    name: Annotated[str, msgspec.Meta(max_length=9)]


@action
async def count(n: int) -> dict[str, int]:
    """Counts.

    Slowly."""
    return {"n": n + 1}


@action(name="twice", timeout_ms=50, retry=RetryPolicy(3))
def double(n: int) -> int:
    return n * 2


@pytest.mark.parametrize(
    ("found", "then"),
    [
        pytest.param(
            count.action,
            Action(
                "python",
                {"function": f"{__name__}:count"},
                input_schema=NUMBERS,
                output_schema={"type": "object", "additionalProperties": {"type": "integer"}},
                description="Counts.\n\nSlowly.",
            ),
            id="schemas from hints, words from the docstring",
        ),
        pytest.param(
            double.action,
            Action(
                "python",
                {"function": f"{__name__}:double"},
                input_schema=NUMBERS,
                output_schema={"type": "integer"},
                execution=Execution(50, RetryPolicy(3)),
            ),
            id="with a name, a time and a retry of its own",
        ),
    ],
)
def test_what_the_action_says(found: Action, then: Action) -> None:
    assert found == then


async def test_the_function_stays_callable() -> None:
    assert await count(3) == {"n": 4}
    assert double(n=3) == 6
    assert (count.name, double.name, getattr(double, "__name__", None)) == ("count", "twice", "double")


def test_it_is_known_by_name() -> None:
    known = action_functions()
    assert known["count"] == count.action
    assert known["twice"] == double.action
    assert run(task(Action("python", {"function": "count"})), {"n": 1}) == {"n": 2}


def optional(n: int = 3, *, m: str | None = None) -> None: ...
def leaves(leaf: Leaf, more: list[Leaf]) -> list[Leaf]: ...  # type: ignore[empty-body]
def trees(tree: Tree) -> None: ...
def anything(*rest: int, given: Any) -> Any: ...


LEAF: JsonObject = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 9}},
    "required": ["name"],
    **CLOSED,
}


@pytest.mark.parametrize(
    ("function", "properties", "required", "output"),
    [
        pytest.param(
            optional,
            {"n": {"type": "integer"}, "m": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
            [],
            {"type": "null"},
            id="what has a default is not required",
        ),
        pytest.param(
            leaves,
            {"leaf": LEAF, "more": {"type": "array", "items": LEAF}},
            ["leaf", "more"],
            {"type": "array", "items": LEAF},
            id="parts stand where they are used",
        ),
        pytest.param(anything, {"given": {}}, ["given"], None, id="no hint, no demand"),
    ],
)
def test_schemas(
    function: Callable[..., object], properties: JsonObject, required: list[str], output: JsonObject | None
) -> None:
    found = action(function).action
    assert found.input_schema == {"type": "object", "properties": properties, "required": required, **CLOSED}
    assert found.output_schema == output


def test_a_type_that_contains_itself_keeps_its_reference() -> None:
    schema = action(trees).action.input_schema
    assert schema is not None
    assert set(schema) == {"type", "properties", "required", "$defs", "x-closed"}
    given: JsonObject = {"tree": {"name": "a", "below": [{"name": "b"}]}}
    assert run(task(Action("context", {"validate": {"schema": schema}})), given) == given


def positional(n: int, /) -> None: ...
def unspeakable(path: Executor) -> None: ...


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        pytest.param(positional, "'n' is positional-only", id="a parameter without a name"),
        pytest.param(unspeakable, "have no JSON Schema", id="a type that no JSON becomes"),
    ],
)
def test_a_function_that_cannot_be_an_action(function: Callable[..., object], problem: str) -> None:
    with pytest.raises(DefinitionError, match=problem):
        action(function)


def test_two_functions_of_one_name_are_refused() -> None:
    with pytest.raises(DefinitionError, match="the name 'count' is used by"):
        action(name="count")(optional)


async def test_a_function_defined_anew_replaces_its_elder() -> None:
    def define(number: int) -> Action:
        @action
        async def defined_anew() -> int:
            return number

        return defined_anew.action

    executor, library = Executor(), Library()
    for number in range(3):
        given, answer = task(define(number)), asyncio.get_running_loop().create_future()
        effect = StartTask(TokenId(number), "n", 1, 1, {})
        executor.start(RunId("r"), effect, given, library, lambda: None, unheard, answer.set_result)
        assert await answer == {"result": number}
    await executor.close(0)


def test_functions_made_by_another_are_told_apart_by_name() -> None:
    def maker(number: int) -> Action:
        @action(name=f"made_{number}")
        async def made() -> int:
            return number

        return made.action

    assert [run(task(each)) for each in [maker(1), maker(2)]] == [{"result": 1}, {"result": 2}]


def test_a_script_is_known_by_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    main = type(sys)("__main__")
    main.__file__ = "/somewhere/panel.py"
    monkeypatch.setitem(sys.modules, "__main__", main)

    def vote() -> None: ...

    vote.__module__, vote.__qualname__ = "__main__", "vote"
    assert reference_of(vote, "vote") == "panel:vote"


def test_a_function_that_comes_later_is_found_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"app_{uuid4().hex}"
    given, library, executor = task(Action("python", {"function": f"{name}:f"})), Library(), Executor()
    assert executor.missing(given, library) == f"{name}:f (No module named '{name}')"
    (tmp_path / f"{name}.py").write_text("async def f() -> str:\n    return 'here'\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert executor.missing(given, library) is None
    assert run(given) == {"result": "here"}
