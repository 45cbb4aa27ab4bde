"""Checks of a run's input: plain JSON that can be stored, and that fits the schema.

All problems are reported at once, each with its path. A refused input makes no run.
"""

import json
from collections import Counter

import msgspec

from jeton.expression.schema import dotted_path
from jeton.model.failure import Refused
from jeton.model.json import Json
from jeton.model.storable import LARGEST_INTEGER, MOST_FLAWS, TOO_DEEP, Flaws, storable
from jeton.planning.program.workflow import Program

MOST_DIGITS = 20  # more can never fit 64 bits, and Python is slow to convert thousands of them

MADE_NO_RUN = "correct the input; no run was made"
CHANGED_NOTHING = "correct it; nothing was changed"


class InputProblem(msgspec.Struct, frozen=True):
    """One problem of an input, and its path."""

    path: str
    problem: str


class InputInvalid(Refused):
    """An input, answer or signal that cannot be used. `problems` has every problem, not only the first."""

    def __init__(self, problems: tuple[InputProblem, ...], remedy: str = MADE_NO_RUN) -> None:
        self.problems = problems
        text = "; ".join(f"{found.path}: {found.problem}" for found in problems)
        super().__init__("input_invalid", text, remedy)


def read_value(text: str, name: str) -> Json:
    """Parse the JSON of an answer, a signal or an edit. `name` is its name in the problems."""
    return _read(text, name, CHANGED_NOTHING)


def read_input(text: str) -> Json:
    """Parse the JSON of a run's input: no NaN, no repeated key, no half character, no number beyond 64 bits."""
    return _read(text, "input", MADE_NO_RUN)


def _read(text: str, name: str, remedy: str) -> Json:
    refused: Flaws = []

    def pairs(found: list[tuple[str, Json]]) -> dict[str, Json]:
        keys = dict(found)
        if len(keys) < len(found):
            often = Counter(key for key, _ in found)
            twice = [key for key, times in often.items() if times > 1]
            room = max(0, MOST_FLAWS - len(refused))
            refused.extend((name, f"the key {_shown(key)} is there twice") for key in twice[:room])
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
    return _without_flaws(value, name, remedy, refused)


def plain_value(value: object, name: str) -> Json:
    """The value of an answer, a signal or an edit as plain JSON. `name` is its name in the problems."""
    return _plain(value, name, CHANGED_NOTHING)


def plain_input(value: object) -> Json:
    """A run's input as plain JSON: dataclasses, models and tuples become objects and lists. It is a copy."""
    return _plain(value, "input", MADE_NO_RUN)


def _plain(value: object, name: str, remedy: str) -> Json:
    try:
        found: object = msgspec.to_builtins(value, enc_hook=_dumped)
    except (TypeError, NotImplementedError) as error:
        raise InputInvalid((InputProblem(name, str(error)),), remedy) from None
    except RecursionError:
        raise InputInvalid((_too_deep(name),), remedy) from None
    return _without_flaws(found, name, remedy, [])


def _without_flaws(value: object, name: str, remedy: str, flaws: Flaws) -> Json:
    found = storable(value, name, flaws)
    if flaws:
        raise InputInvalid(tuple(InputProblem(path, problem) for path, problem in flaws), remedy)
    return found


def check_input(program: Program, value: Json) -> None:
    """Raise InputInvalid with every place where the value does not fit the schema."""
    if program.input_validator is None:
        return
    misfits = program.input_validator.misfits(value)
    problems = tuple(InputProblem(dotted_path("input", misfit.path), misfit.problem) for misfit in misfits)
    if problems:
        raise InputInvalid(problems)


def _dumped(value: object) -> object:
    """The plain data of a model with a `model_dump` method, such as pydantic's."""
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json")
    raise NotImplementedError(f"a Python {type(value).__name__} is not plain data")


def _too_deep(path: str) -> InputProblem:
    return InputProblem(path, TOO_DEEP)


def _shown(text: str) -> str:
    return json.dumps(text[:60])
