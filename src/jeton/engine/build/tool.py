"""Tools built in Python: `jeton.Tool`, and `@jeton.tool` for a function."""

import inspect
from collections.abc import Callable, Mapping
from functools import update_wrapper
from typing import Any, Generic, Literal, ParamSpec, TypeAlias, TypeVar, cast, overload

from jeton.engine.build.parts import Expressions, Part, Parts, Shape, builder_error, given_values, schema_from
from jeton.executor.python.action import ActionFunction, RetryOptions, action
from jeton.executor.python.results import builtins_of
from jeton.executor.python.schema_of import CLOSED
from jeton.model.definition.task import RetryPolicy
from jeton.model.json import Json, JsonObject, Schema

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

Approval: TypeAlias = bool | str | Mapping[str, Any]
"""Whether a call needs approval: always, by a condition, or as an object with who is asked."""


class Tool:
    """A tool of agents: what a model is told of it, and the task, workflow, agent or MCP tool that it calls."""

    def __init__(
        self,
        name: str,
        description: str = "",
        *,
        task: str | None = None,
        workflow: Part | str | None = None,
        agent: Part | str | None = None,
        mcp: Mapping[str, str] | None = None,
        mode: Literal["delegate", "loop_in"] | None = None,
        input: Shape | None = None,
        output: Shape | None = None,
        input_mapping: Expressions | None = None,
        needs_approval: Approval | None = None,
        runs_async: bool | None = None,
        once: bool | None = None,
        exclusive: bool | None = None,
        untrusted: bool | None = None,
        retry: RetryPolicy | RetryOptions | None = None,
        timeout_ms: int | None = None,
        max_result_bytes: int | None = None,
    ) -> None:
        """`input` is what a model calls it with; `output`, of an agent alone, the data that it is to answer with."""
        self.name = name
        self._refers: dict[str, Part | str | None] = {"workflow": workflow, "agent": agent}
        self._fields = given_values(
            description=description or None,
            task=task,
            mcp=mcp,
            mode=mode,
            input_schema=self._schema(input, "input"),
            output_schema=self._schema(output, "output"),
            input_mapping=input_mapping,
            needs_approval=needs_approval,
            once=once,
            exclusive=exclusive,
            untrusted=untrusted,
            retry=retry,
            timeout_ms=timeout_ms,
            max_result_bytes=max_result_bytes,
            **{"async": runs_async},
        )

    def _schema(self, shape: Shape | None, key: str) -> Schema | None:
        schema = schema_from(shape, lambda problem, remedy: builder_error(f"tools.{self.name}.{key}", problem, remedy))
        return None if schema is None else cast("Schema", _closed(schema))

    def collect(self, parts: Parts) -> None:
        """Add the tool and what it calls to the content of a library file."""
        called = {key: parts.refer(part) for key, part in self._refers.items() if part is not None}
        parts.add("tools", self.name, {**self._fields, **given_values(**called)})

    def __repr__(self) -> str:
        return f"<tool {self.name}>"


class ToolFunction(Tool, Generic[Parameters, Result]):
    """A function that agents can use as a tool. Calling it calls the function."""

    def __init__(self, function: ActionFunction[Parameters, Result], description: str = "", **options: Any) -> None:
        """A tool of an action: its task has that one step. `options` are those of a `Tool`."""
        told = description or inspect.getdoc(function) or ""
        super().__init__(function.name, told, task=function.name, input=function.action.input_schema, **options)
        self._function = function
        update_wrapper(self, function, updated=())

    def __call__(self, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        return self._function(*args, **kwargs)

    def collect(self, parts: Parts) -> None:
        """Add the tool, its task and its action to the content of a library file."""
        super().collect(parts)
        parts.add("tasks", self.name, {"steps": [{"ref": self.name, "action": self.name}]})
        parts.add_action(self.name, builtins_of(self._function.action))


@overload
def tool(function: Callable[Parameters, Result], /) -> ToolFunction[Parameters, Result]: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str = "",
    needs_approval: Approval | None = None,
    runs_async: bool | None = None,
    once: bool | None = None,
    exclusive: bool | None = None,
    untrusted: bool | None = None,
    retry: RetryPolicy | RetryOptions | None = None,
    timeout_ms: int | None = None,
    max_result_bytes: int | None = None,
) -> Callable[[Callable[Parameters, Result]], ToolFunction[Parameters, Result]]: ...
def tool(
    function: Callable[Parameters, Result] | None = None,
    /,
    *,
    name: str | None = None,
    description: str = "",
    needs_approval: Approval | None = None,
    runs_async: bool | None = None,
    once: bool | None = None,
    exclusive: bool | None = None,
    untrusted: bool | None = None,
    retry: RetryPolicy | RetryOptions | None = None,
    timeout_ms: int | None = None,
    max_result_bytes: int | None = None,
) -> ToolFunction[Parameters, Result] | Callable[[Callable[Parameters, Result]], ToolFunction[Parameters, Result]]:
    """Turn a function, sync or async, into a tool: the schema comes from its hints, the description from its docstring.

    `needs_approval` asks a person first: always, or by an expression over `input`, `caller` and `tainted`.
    """

    def decorate(function: Callable[Parameters, Result]) -> ToolFunction[Parameters, Result]:
        return ToolFunction(
            action(name=name)(function),
            description,
            needs_approval=needs_approval,
            runs_async=runs_async,
            once=once,
            exclusive=exclusive,
            untrusted=untrusted,
            retry=retry,
            timeout_ms=timeout_ms,
            max_result_bytes=max_result_bytes,
        )

    return decorate if function is None else decorate(function)


def _closed(schema: Json) -> Json:
    """A schema made from a Python type, as a model is told of it: an argument that there is not is a mistake."""
    match schema:
        case dict():
            found: JsonObject = {key: _closed(each) for key, each in schema.items() if key != CLOSED}
            return {**found, "additionalProperties": False} if CLOSED in schema else found
        case list():
            return [_closed(each) for each in schema]
        case _:
            return schema
