"""Python functions: what they are given, what they give back, and what their errors mean."""

import asyncio
import dataclasses
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypedDict

import msgspec
import pytest

from jeton.executor import (
    CurrentCall,
    Executor,
    LoopClock,
    Resources,
    TaskCall,
    ThreadPool,
    TransientError,
    compile_task,
    current_call,
    run_task,
)
from jeton.executor.python.action import action
from jeton.executor.task.run_task import TaskResult
from jeton.model.definition.task import Action, Step, Task
from jeton.model.definition.workflow import Library
from jeton.model.failure import Refused, TaskFailed
from jeton.model.json import Json, JsonObject
from tests.executor.given import NODE, RUN, TOKEN, run, task


class Vote(msgspec.Struct):
    judge: str
    points: int = 0


@dataclasses.dataclass
class Essay:
    text: str
    tags: list[str] = dataclasses.field(default_factory=list[str])


class Point(TypedDict):
    x: int
    y: int


class LikePydantic:
    """What a pydantic model can do, without pydantic."""

    def __init__(self, name: str) -> None:
        self.name = name

    @classmethod
    def model_json_schema(cls, *, ref_template: str = "") -> dict[str, Any]:
        return {"type": "object", "properties": {"name": {"type": "string"}}, "title": "LikePydantic"}

    @classmethod
    def model_validate(cls, obj: Any) -> "LikePydantic":
        if not isinstance(obj["name"], str):
            raise ValueError("name is no text")
        return cls(obj["name"])

    def model_dump(self, *, mode: str = "python") -> JsonObject:
        return {"name": self.name}


async def plain(n: int, more: int = 1) -> dict[str, int]:
    return {"n": n + more}


async def structs(vote: Vote) -> Vote:
    return Vote(vote.judge.upper(), vote.points + 1)


async def dataclass(essay: Essay) -> Essay:
    return Essay(essay.text, [*essay.tags, "read"])


async def typed_dict(point: Point) -> Point:
    return {"x": point["y"], "y": point["x"]}


async def lists(votes: list[Vote]) -> dict[str, Any]:
    return {"judges": [vote.judge for vote in votes], "all": tuple(votes)}


async def pydantic(who: LikePydantic) -> LikePydantic:
    return LikePydantic(who.name * 2)


async def anything(**given: Any) -> dict[str, Any]:
    return given


async def unhinted(n: object) -> dict[str, str]:
    return {"type": type(n).__name__}


unhinted.__annotations__.clear()


async def nothing(n: int) -> None:
    return None


async def greedy(items: list[int]) -> dict[str, list[int]]:
    items.append(99)
    return {"items": items}


def python(function: Callable[..., object]) -> Task:
    return task(Action("python", {"function": f"{__name__}:{function.__name__}"}))


@pytest.mark.parametrize(
    ("function", "given", "then"),
    [
        pytest.param(
            plain, {"n": 1, "other": 3}, {"n": 2}, id="parameters by name; what it does not ask for is left out"
        ),
        pytest.param(plain, {"n": 1, "more": 5}, {"n": 6}, id="a default gives way"),
        pytest.param(structs, {"vote": {"judge": "a"}}, {"judge": "A", "points": 1}, id="a msgspec struct"),
        pytest.param(dataclass, {"essay": {"text": "x"}}, {"text": "x", "tags": ["read"]}, id="a dataclass"),
        pytest.param(typed_dict, {"point": {"x": 1, "y": 2}}, {"x": 2, "y": 1}, id="a TypedDict"),
        pytest.param(
            lists,
            {"votes": [{"judge": "a"}]},
            {"judges": ["a"], "all": [{"judge": "a", "points": 0}]},
            id="a list of structs in, a tuple of them out",
        ),
        pytest.param(pydantic, {"who": {"name": "ab"}}, {"name": "abab"}, id="a pydantic model"),
        pytest.param(anything, {"a": 1, "b": [2]}, {"a": 1, "b": [2]}, id="whatever there is"),
        pytest.param(unhinted, {"n": 1}, {"type": "int"}, id="no hints"),
        pytest.param(nothing, {"n": 1}, {"result": None}, id="nothing"),
        pytest.param(
            plain,
            {"n": "x"},
            TaskFailed("input_invalid", "plain: Expected `int`, got `str` - at `$.n`", "s0"),
            id="input that does not fit",
        ),
        pytest.param(
            plain,
            {},
            TaskFailed("input_invalid", "plain: Object missing required field `n`", "s0"),
            id="input that is missing",
        ),
        pytest.param(
            pydantic,
            {"who": {"name": 3}},
            TaskFailed("input_invalid", "pydantic: name is no text - at `$.who`", "s0"),
            id="a pydantic model that refuses",
        ),
    ],
)
def test_arguments_and_results(function: Callable[..., object], given: JsonObject, then: TaskResult) -> None:
    assert run(python(function), given) == then


def test_a_function_may_change_what_it_is_given() -> None:
    given: JsonObject = {"items": [1]}
    assert run(python(greedy), given) == {"items": [1, 99]}
    assert given == {"items": [1]}


class Hiccup(TransientError):
    pass


async def raises(error: str) -> None:
    raise {
        "transient": TransientError("later"),
        "subclass": Hiccup("hic"),
        "connection": ConnectionResetError("gone"),
        "timeout": TimeoutError("slow"),
        "value": ValueError("bad"),
        "silent": KeyError(),
        "exit": SystemExit(3),
        "interrupt": KeyboardInterrupt(),
        "cancelled": asyncio.CancelledError(),
        "closed": GeneratorExit(),
        "stop": StopAsyncIteration("odd"),
    }[error]


def raises_in_a_thread(error: str) -> None:
    raises(error).send(None)


ERRORS = [
    pytest.param(
        "transient",
        TaskFailed("TransientError", "later", "s0", transient=True),
        id="transient by its own word",
    ),
    pytest.param("subclass", TaskFailed("Hiccup", "hic", "s0", transient=True), id="a subclass of it"),
    pytest.param("connection", TaskFailed("ConnectionResetError", "gone", "s0", transient=True), id="a connection"),
    pytest.param("timeout", TaskFailed("TimeoutError", "slow", "s0", transient=True), id="a timeout"),
    pytest.param("value", TaskFailed("ValueError", "bad", "s0"), id="anything else is business"),
    pytest.param("silent", TaskFailed("KeyError", "KeyError", "s0"), id="an error without words"),
    pytest.param("exit", TaskFailed("SystemExit", "3", "s0"), id="asking the process to end"),
    pytest.param("interrupt", TaskFailed("KeyboardInterrupt", "KeyboardInterrupt", "s0"), id="interrupting it"),
    pytest.param(
        "cancelled",
        TaskFailed("CancelledError", "CancelledError", "s0"),
        id="cancelled by something else",
    ),
    pytest.param("closed", TaskFailed("GeneratorExit", "GeneratorExit", "s0"), id="what closes a generator"),
]


@pytest.mark.parametrize(("error", "then"), ERRORS)
async def test_an_error_on_the_loop(error: str, then: TaskFailed) -> None:
    assert without_stack(await really(python(raises), {"error": error})) == then


@pytest.mark.parametrize(("error", "then"), ERRORS)
async def test_an_error_in_a_thread(error: str, then: TaskFailed) -> None:
    assert without_stack(await really(python(raises_in_a_thread), {"error": error})) == then


def without_stack(answer: TaskResult) -> TaskResult:
    """The failure alone, once it is seen that it says where it was raised."""
    assert isinstance(answer, TaskFailed)
    assert answer.stack is not None
    assert "in raise" in answer.stack
    return msgspec.structs.replace(answer, stack=None)


async def really(given: Task, input: JsonObject) -> TaskResult:
    """On the real loop, in real threads."""
    resources = Resources(LoopClock(), ThreadPool(2))
    try:
        return await run_task(TaskCall(RUN, TOKEN, NODE, 2, input), compile_task(given, Library()), resources)
    finally:
        resources.threads.close()


def where() -> dict[str, Json]:
    call = current_call()
    return {"call": msgspec.to_builtins(call), "main": threading.current_thread() is threading.main_thread()}


async def where_on_the_loop() -> dict[str, Json]:
    await asyncio.sleep(0)
    return where()


CALL = CurrentCall(RUN, TOKEN, NODE, 2, "s0", 1, "r1:7:2:s0")


@pytest.mark.parametrize(
    ("function", "main"),
    [
        pytest.param(where, False, id="a sync function runs in a thread"),
        pytest.param(where_on_the_loop, True, id="an async one on the loop"),
    ],
)
async def test_a_function_finds_its_call(function: Callable[..., object], main: bool) -> None:
    assert await really(python(function), {}) == {"call": msgspec.to_builtins(CALL), "main": main}


def test_outside_an_action_there_is_no_call() -> None:
    with pytest.raises(Refused, match="no action is running here"):
        current_call()


def test_a_function_nobody_registered_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "late_app.py").write_text("async def hello(name: str) -> dict[str, str]:\n    return {'hi': name}\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert run(task(Action("python", {"function": "late_app:hello"})), {"name": "Ada"}) == {"hi": "Ada"}


def test_an_imported_module_may_register_what_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "import jeton\n\n@jeton.action(name='greet')\nasync def hello(name: str) -> str:\n    return name\n"
    (tmp_path / "other_app.py").write_text(source)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert run(task(Action("python", {"function": "other_app:hello"})), {"name": "Ada"}) == {"result": "Ada"}
    assert run(task(Action("python", {"function": "greet"})), {"name": "Bob"}) == {"result": "Bob"}


@pytest.mark.parametrize(
    ("function", "then"),
    [
        pytest.param("no_such_module:f", "no_such_module:f (No module named 'no_such_module')", id="no such module"),
        pytest.param(
            "math:no_such", "math:no_such (module 'math' has no attribute 'no_such')", id="no such name in it"
        ),
        pytest.param("math:pi", "math:pi (it is not callable)", id="no function"),
        pytest.param(
            "nobody",
            "nobody (no function is registered under that name; if it is defined inside another, move it to the top "
            "level of a module)",
            id="a name nobody registered",
        ),
    ],
)
def test_what_is_missing_is_named(function: str, then: str) -> None:
    step = Step("used")
    library = Library(actions={"used": Action("python", {"function": function})})
    assert Executor().missing(Task((step,)), library) == then


def test_nothing_is_missing() -> None:
    @action
    async def here() -> None: ...

    executor, given, library = Executor(), task(here.action, Action("mock"), Action("telepathy")), Library()
    assert executor.missing(given, library) is None
    assert executor.missing(given, library) is None
