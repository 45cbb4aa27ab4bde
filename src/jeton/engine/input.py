"""A run's input, before there is a run: plain JSON that every later layer can keep, and that fits its schema.

All that is wrong with it is said at once, each with its path. Whatever is refused here makes no run.
"""

import json
import math
from collections import Counter
from collections.abc import Iterator
from typing import cast

import jsonschema_rs
import msgspec

from jeton.model.failure import Refused
from jeton.model.json import Json, Schema

DEEPEST = 100
MOST_DIGITS = 20  # more can never fit 64 bits, and Python is slow to convert thousands of them
SMALLEST_INTEGER, LARGEST_INTEGER = -(2**63), 2**63 - 1


class InputProblem(msgspec.Struct, frozen=True):
    """One thing wrong with an input, and where."""

    path: str
    problem: str


class InputInvalid(Refused):
    """The input makes no run. Carries every problem found, not the first."""

    def __init__(self, problems: tuple[InputProblem, ...]) -> None:
        self.problems = problems
        said = "; ".join(f"{found.path}: {found.problem}" for found in problems)
        super().__init__("input_invalid", said, "correct the input; no run was made")


def read_input(text: str) -> Json:
    """JSON as the standard has it: no NaN, no key twice, no half characters, no number that 64 bits cannot hold."""
    refused: list[InputProblem] = []

    def pairs(found: list[tuple[str, Json]]) -> dict[str, Json]:
        keys = dict(found)
        if len(keys) < len(found):
            often = Counter(key for key, _ in found)
            twice = [key for key, times in often.items() if times > 1]
            refused.extend(InputProblem("input", f"the key {_shown(key)} is there twice") for key in twice)
        return keys

    def integer(digits: str) -> int:
        return int(digits) if len(digits) <= MOST_DIGITS else LARGEST_INTEGER + 1  # refused below, with its path

    try:
        value: Json = json.loads(text, object_pairs_hook=pairs, parse_int=integer)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InputInvalid((InputProblem("input", f"is no JSON: {error.msg} at {where}"),)) from None
    except RecursionError:
        raise InputInvalid((_too_deep("input"),)) from None
    refused += _unkeepable(value, "input", 0)
    if refused:
        raise InputInvalid(tuple(refused))
    return value


def plain_input(value: object) -> Json:
    """A Python value as plain JSON: dataclasses, models and tuples become objects and lists, and nothing is shared."""
    try:
        found: object = msgspec.to_builtins(value, enc_hook=_dumped)
    except (TypeError, NotImplementedError) as error:
        raise InputInvalid((InputProblem("input", str(error)),)) from None
    except RecursionError:
        raise InputInvalid((_too_deep("input"),)) from None
    problems = tuple(_unkeepable(found, "input", 0))
    if problems:
        raise InputInvalid(problems)
    return cast("Json", found)


def check_input(schema: Schema | None, value: Json) -> None:
    """Raises InputInvalid with every place where the value does not fit."""
    if schema is None:
        return
    errors = jsonschema_rs.validator_for(schema).iter_errors(value)
    problems = tuple(InputProblem(_path("input", error.instance_path), error.message) for error in errors)
    if problems:
        raise InputInvalid(problems)


def _dumped(value: object) -> object:
    """A model that knows how to become plain data itself (pydantic's do)."""
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json")
    raise NotImplementedError(f"a Python {type(value).__name__} is not plain data")


def _unkeepable(value: object, path: str, depth: int) -> Iterator[InputProblem]:
    match value:
        case None | bool():
            return
        case int():
            if not SMALLEST_INTEGER <= value <= LARGEST_INTEGER:
                yield InputProblem(path, "this number does not fit 64 bits; send it as text")
        case float():
            if not math.isfinite(value):
                yield InputProblem(path, f"{value} is no number JSON knows")
        case str():
            yield from _half_characters(value, path)
        case list() | dict() if depth == DEEPEST:
            yield _too_deep(path[:200])
        case list():
            for index, item in enumerate(cast("list[object]", value)):
                yield from _unkeepable(item, f"{path}[{index}]", depth + 1)
        case dict():
            for key, item in cast("dict[object, object]", value).items():
                if not isinstance(key, str):
                    yield InputProblem(path, f"the key {key!r} is no text")
                else:
                    yield from _half_characters(key, path)
                    yield from _unkeepable(item, f"{path}.{key}", depth + 1)
        case _:
            yield InputProblem(path, f"a Python {type(value).__name__} is not plain data")


def _half_characters(text: str, path: str) -> Iterator[InputProblem]:
    try:
        text.encode()
    except UnicodeEncodeError:
        yield InputProblem(path, "holds half of a surrogate pair, which is no character")


def _too_deep(path: str) -> InputProblem:
    return InputProblem(path, f"is nested more than {DEEPEST} levels deep")


def _path(root: str, keys: list[str | int]) -> str:
    return root + "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys)


def _shown(text: str) -> str:
    return json.dumps(text[:60])
