"""The definitions that something built in Python consists of, by section, as the content of a library file."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias, cast

from jeton.executor.python.results import NotPlain, builtins_of
from jeton.executor.python.schema_of import PLAIN_DATA, schema_of
from jeton.model.failure import DefinitionError, Problem
from jeton.model.json import Json, JsonObject, Schema

Shape: TypeAlias = type[Any] | Mapping[str, Any]
"""A pydantic model, dataclass, TypedDict or msgspec Struct; or a JSON Schema."""

Expressions: TypeAlias = Mapping[str, Any]
"""A mapping of target paths to expressions, which are strings, or to literals of any other type."""


class Part(Protocol):
    """Something built in Python that other things may refer to: a workflow, an agent, a tool."""

    @property
    def name(self) -> str: ...

    def collect(self, parts: "Parts") -> None:
        """Add its definition, and those it refers to."""
        ...


class Parts:
    """Collects definitions. Two that differ cannot have the same name."""

    def __init__(self) -> None:
        self._sections: dict[str, JsonObject] = {}
        self._collected: set[int] = set()

    def add(self, section: str, name: str, definition: Json) -> None:
        """Add one definition. Raises DefinitionError if there is another of the name."""
        found = self._sections.setdefault(section, {})
        if found.setdefault(name, definition) != definition:
            problem = f"there are two that differ, both called '{name}'"
            raise builder_error(f"{section}.{name}", problem, "give one of them another name")

    def add_action(self, name: str, action: Json) -> None:
        """Add the action of a Python function. A function that was defined again replaces the one before."""
        self._sections.setdefault("actions", {})[name] = action

    def refer(self, part: "str | Part") -> str:
        """The name of a part, which is collected; a name as it is."""
        if isinstance(part, str):
            return part
        if id(part) not in self._collected:  # parts may refer to each other
            self._collected.add(id(part))
            part.collect(self)
        return part.name

    def content(self) -> dict[str, Json]:
        """All definitions, as the content of a library file."""
        return dict(self._sections)


def definition_of(part: Part) -> dict[str, Json]:
    """A part and all it refers to, as the content of a library file."""
    parts = Parts()
    parts.refer(part)
    return parts.content()


def builder_error(path: str, problem: str, remedy: str) -> DefinitionError:
    """A mistake in a call of the builder."""
    return DefinitionError((Problem("error", "bad_builder", "", 0, path, problem, remedy),))


def schema_from(shape: Shape | None, error: Callable[[str, str], DefinitionError]) -> Schema | None:
    """The schema of a Python type, or the schema that is given. `error` makes one of a problem and a remedy."""
    if shape is None or isinstance(shape, Mapping):
        return cast("Schema | None", shape)
    try:
        return schema_of(shape)
    except TypeError as caught:
        raise error(f"has no JSON Schema: {caught}", f"use {PLAIN_DATA}, or a schema") from None


def given_values(**values: object) -> JsonObject:
    """The values as plain data, without those that are None. Raises DefinitionError."""
    found: JsonObject = {}
    for key, value in values.items():
        try:
            if value is not None:
                found[key] = builtins_of(value)
        except NotPlain as error:
            problem = f"contains an object of the type '{type(error.value).__name__}', which is not plain data"
            raise builder_error(key, problem, f"use {PLAIN_DATA}") from None
    return found
