"""A run's input, before there is a run: plain JSON that every later layer can keep, and that fits its schema.

All that is wrong with it is said at once, each with its path. Whatever is refused here makes no run.
"""

import json
import math
from collections import Counter
from typing import cast

import msgspec

from jeton.model.failure import Refused
from jeton.model.json import Json, JsonObject
from jeton.planning.program import Program

DEEPEST = 100
LONGEST_PATH = 200
MOST_DIGITS = 20  # more can never fit 64 bits, and Python is slow to convert thousands of them
SMALLEST_INTEGER, LARGEST_INTEGER = -(2**63), 2**63 - 1


class InputProblem(msgspec.Struct, frozen=True):
    """One thing wrong with an input, and where."""

    path: str
    problem: str


class InputInvalid(Refused):
    """What was given cannot be used. Carries every problem found, not the first."""

    def __init__(self, problems: tuple[InputProblem, ...], remedy: str = "correct the input; no run was made") -> None:
        self.problems = problems
        said = "; ".join(f"{found.path}: {found.problem}" for found in problems)
        super().__init__("input_invalid", said, remedy)


def read_value(text: str, name: str) -> Json:
    """JSON that is no run's input: an answer, a signal, an edit; `name` says which in the problems."""
    return _read(text, name, "correct it; nothing was changed")


def read_input(text: str) -> Json:
    """JSON as the standard has it: no NaN, no key twice, no half characters, no number that 64 bits cannot hold."""
    return _read(text, "input", "correct the input; no run was made")


def _read(text: str, name: str, remedy: str) -> Json:
    refused: list[InputProblem] = []

    def pairs(found: list[tuple[str, Json]]) -> dict[str, Json]:
        keys = dict(found)
        if len(keys) < len(found):
            often = Counter(key for key, _ in found)
            twice = [key for key, times in often.items() if times > 1]
            refused.extend(InputProblem(name, f"the key {_shown(key)} is there twice") for key in twice)
        return keys

    def integer(digits: str) -> int:
        return int(digits) if len(digits) <= MOST_DIGITS else LARGEST_INTEGER + 1  # refused below, with its path

    try:
        value: object = json.loads(text, object_pairs_hook=pairs, parse_int=integer)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InputInvalid((InputProblem(name, f"is no JSON: {error.msg} at {where}"),), remedy) from None
    except RecursionError:
        raise InputInvalid((_too_deep(name),), remedy) from None
    kept = _kept(value, name, refused)
    if refused:
        raise InputInvalid(tuple(refused), remedy)
    return kept


def plain_input(value: object) -> Json:
    """A Python value as plain JSON: dataclasses, models and tuples become objects and lists, and nothing is shared."""
    try:
        found: object = msgspec.to_builtins(value, enc_hook=_dumped)
    except (TypeError, NotImplementedError) as error:
        raise InputInvalid((InputProblem("input", str(error)),)) from None
    except RecursionError:
        raise InputInvalid((_too_deep("input"),)) from None
    refused: list[InputProblem] = []
    kept = _kept(found, "input", refused)
    if refused:
        raise InputInvalid(tuple(refused))
    return kept


def check_input(program: Program, value: Json) -> None:
    """Raises InputInvalid with every place where the value does not fit."""
    if program.input_validator is None:
        return
    errors = program.input_validator.iter_errors(value)
    problems = tuple(InputProblem(_path("input", error.instance_path), error.message) for error in errors)
    if problems:
        raise InputInvalid(problems)


def _dumped(value: object) -> object:
    """A model that knows how to become plain data itself (pydantic's do)."""
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json")
    raise NotImplementedError(f"a Python {type(value).__name__} is not plain data")


def _kept(value: object, path: str, problems: list[InputProblem], depth: int = 0) -> Json:
    """A copy of the value; whatever cannot be kept is null in it, and among the problems."""
    match value:
        case None | bool():
            return value
        case int():
            if SMALLEST_INTEGER <= value <= LARGEST_INTEGER:
                return value
            problem = "this number does not fit 64 bits; send it as text"
        case float():
            if math.isfinite(value):
                return value
            problem = f"{value} is no number JSON knows"
        case str():
            if _is_text(value):
                return value
            problem = "holds half of a surrogate pair, which is no character"
        case list() | tuple() | dict() if depth == DEEPEST:
            problems.append(_too_deep(path[:LONGEST_PATH]))
            return None
        case list() | tuple():
            items = cast("list[object] | tuple[object, ...]", value)
            return [_kept(item, f"{path}[{index}]", problems, depth + 1) for index, item in enumerate(items)]
        case dict():
            return _kept_object(cast("dict[object, object]", value), path, problems, depth)
        case _:
            problem = f"a Python {type(value).__name__} is not plain data"
    problems.append(InputProblem(path, problem))
    return None


def _kept_object(value: dict[object, object], path: str, problems: list[InputProblem], depth: int) -> JsonObject:
    found: JsonObject = {}
    for key, item in value.items():
        if isinstance(key, str) and _is_text(key):
            found[key] = _kept(item, f"{path}.{key}", problems, depth + 1)
        else:
            problems.append(InputProblem(path, f"the key {key!r} is no text"))
    return found


def _is_text(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _too_deep(path: str) -> InputProblem:
    return InputProblem(path, f"is nested more than {DEEPEST} levels deep")


def _path(root: str, keys: list[str | int]) -> str:
    return root + "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys)


def _shown(text: str) -> str:
    return json.dumps(text[:60])
