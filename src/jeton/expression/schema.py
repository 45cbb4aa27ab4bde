"""JSON Schema (2020-12): compile a schema once, and say where a value does not fit it.

The only module that uses the validation library, so that one error is worded in one way: `input.a[1]: "x" is not of
type "integer"`. Formats are annotations, as the standard has it, and no reference outside a schema is ever fetched.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, Never, TypeAlias

from jeton.model.json import Json, Schema

if TYPE_CHECKING:
    import jsonschema_rs

MOST_MISFITS = 100  # more would help nobody, and a large value may have hundreds of thousands
LONGEST_MESSAGE = 400
LARGE = 10_000  # parts of a value

ValuePath: TypeAlias = tuple[str | int, ...]
"""Keys and positions, from the outermost to the innermost."""


class SchemaInvalid(ValueError):
    """The schema cannot be compiled. `path` leads to the part that is wrong, if the library names it."""

    def __init__(self, path: ValuePath, problem: str) -> None:
        super().__init__(problem)
        self.path = path
        self.problem = problem


class Misfit(NamedTuple):
    """A part of a value that does not fit the schema: where it is, the part itself, and why."""

    path: ValuePath
    value: object
    problem: str


class SchemaValidator:
    """A compiled schema. Immutable, so threads may share it."""

    __slots__ = ("_validator",)

    def __init__(self, schema: Schema | bool) -> None:
        """Raises SchemaInvalid."""
        import jsonschema_rs  # slow to import, and many definitions have no schema

        try:
            self._validator = jsonschema_rs.Draft202012Validator(schema, validate_formats=False, retriever=_refuse)
        except jsonschema_rs.ValidationError as error:
            raise SchemaInvalid(tuple(error.instance_path), error.message) from None
        except (jsonschema_rs.ReferencingError, ValueError) as error:
            raise SchemaInvalid((), str(error)) from None

    def problem(self, value: Json, name: str) -> str | None:
        """The first misfit, as `name.key[0]: reason`; None if the value fits."""
        if self._validator.is_valid(value):
            return None
        for error in self._validator.iter_errors(value):
            return f"{dotted_path(name, error.instance_path)}: {_short(error.message)}"
        return None

    def misfits(self, value: Json) -> Iterator[Misfit]:
        """Every misfit, up to a hundred; of a large value, the first."""
        for error in self._errors(value):
            yield Misfit(tuple(error.instance_path), error.instance, _short(error.message))

    def _errors(self, value: Json) -> "Iterator[jsonschema_rs.ValidationError]":
        """The library finds all errors before it gives the first, which can be hundreds of thousands."""
        if not _is_large(value):
            yield from islice(self._validator.iter_errors(value), MOST_MISFITS)
            return
        import jsonschema_rs  # it is loaded by now

        try:
            self._validator.validate(value)
        except jsonschema_rs.ValidationError as error:
            yield error


def _is_large(value: Json) -> bool:
    """Whether a value has more parts than all errors can be looked for in."""
    waiting: list[Json] = [value]
    seen = 1
    while waiting and seen <= LARGE:
        match waiting.pop():
            case dict() as found:
                seen += len(found)
                waiting.extend(found.values() if len(found) <= LARGE else ())
            case list() as found:
                seen += len(found)
                waiting.extend(found if len(found) <= LARGE else ())
            case _:
                pass
    return seen > LARGE


def _short(message: str) -> str:
    """The message without the middle of a long value, with which it begins."""
    if len(message) <= LONGEST_MESSAGE:
        return message
    half = LONGEST_MESSAGE // 2
    return f"{message[:half]}…{message[-half:]}"


def compile_schema(schema: Schema | None) -> SchemaValidator | None:
    """The validator of a schema; None for a schema that everything fits. Raises SchemaInvalid."""
    return SchemaValidator(schema) if schema else None


def dotted_path(name: str, path: Iterable[str | int]) -> str:
    """A path below a name, as in `input.a[1]`."""
    return name + "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)


def _refuse(uri: str) -> Never:
    raise ValueError(f"{uri} is outside the definition")
