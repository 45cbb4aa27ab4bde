"""What may be a run's input; everything wrong with it is said at once, with its path."""

import dataclasses
import math

import pytest

from jeton.engine.input import InputInvalid, check_input, plain_input, read_input
from jeton.model.definition.workflow import Library, Node, Workflow
from jeton.model.json import Json, Schema
from jeton.planning.program.workflow import compile_program

SCHEMA: Schema = {
    "type": "object",
    "required": ["judges"],
    "properties": {"judges": {"type": "array", "items": {"type": "string"}}, "essay": {"type": "string"}},
}
PROGRAM = compile_program(Workflow("w", "a", {"a": Node()}, input_schema=SCHEMA), Library())


@dataclasses.dataclass
class Essay:
    text: str
    judges: tuple[str, ...]


@pytest.mark.parametrize(
    ("text", "then"),
    [
        pytest.param('{"n": 1, "x": 1.5, "t": [true, null]}', {"n": 1, "x": 1.5, "t": [True, None]}, id="plain"),
        pytest.param("9223372036854775807", 2**63 - 1, id="the largest integer"),
        pytest.param("-9223372036854775808", -(2**63), id="the smallest integer"),
        pytest.param('"\\ud83d\\ude00"', "😀", id="both halves of a pair"),
        pytest.param("[" * 100 + "]" * 100, None, id="a hundred levels"),
    ],
)
def test_json_that_is_taken(text: str, then: Json) -> None:
    found = read_input(text)
    assert then is None or found == then


@pytest.mark.parametrize(
    ("text", "path", "problem"),
    [
        pytest.param("{", "input", "is no JSON", id="not JSON"),
        pytest.param("{'a': 1}", "input", "is no JSON", id="quotes of the wrong kind"),
        pytest.param("[1] 2", "input", "is no JSON", id="more than one value"),
        pytest.param('{"a": 1, "a": 2}', "input", "is there twice", id="a key twice"),
        pytest.param('{"x": {"a": 1, "a": 2}}', "input", '"a" is there twice', id="a key twice inside"),
        pytest.param('{"a": [NaN]}', "input.a[0]", "not a JSON number", id="NaN"),
        pytest.param("-Infinity", "input", "not a JSON number", id="infinity"),
        pytest.param("1e999", "input", "not a JSON number", id="a double that is infinite"),
        pytest.param('{"n": 9223372036854775808}', "input.n", "64 bits", id="an integer that is too large"),
        pytest.param("9" * 100_000, "input", "64 bits", id="a very long integer"),
        pytest.param('["\\ud800"]', "input[0]", "surrogate", id="half a character"),
        pytest.param('{"\\ud800": 1}', "input", "is no text", id="half a character in a key"),
        pytest.param("[" * 101 + "]" * 101, "input", "100 levels", id="one level too deep"),
        pytest.param("[" * 100_000, "input", "100 levels", id="far too deep"),
    ],
)
def test_json_that_is_refused(text: str, path: str, problem: str) -> None:
    with pytest.raises(InputInvalid) as refused:
        read_input(text)
    found = refused.value.problems[0]
    assert found.path.startswith(path)
    assert problem in found.problem
    assert refused.value.code == "input_invalid"


@pytest.mark.parametrize(
    ("value", "then"),
    [
        pytest.param({"a": (1, 2)}, {"a": [1, 2]}, id="a tuple is a list"),
        pytest.param(Essay("x", ("a",)), {"text": "x", "judges": ["a"]}, id="a dataclass is an object"),
    ],
)
def test_python_values_that_are_taken(value: object, then: Json) -> None:
    assert plain_input(value) == then


@pytest.mark.parametrize(
    ("value", "path"),
    [
        pytest.param({"a": math.nan}, "input.a", id="NaN"),
        pytest.param({"a": 2**63}, "input.a", id="an integer that is too large"),
        pytest.param({"a": object()}, "input", id="an object of no kind"),
        pytest.param({1: "a"}, "input", id="a key that is no text"),
    ],
)
def test_python_values_that_are_refused(value: object, path: str) -> None:
    with pytest.raises(InputInvalid) as refused:
        plain_input(value)
    assert [found.path for found in refused.value.problems] == [path]


def test_a_value_that_holds_itself_is_refused() -> None:
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(InputInvalid):
        plain_input(endless)


def test_a_changed_argument_changes_no_run() -> None:
    given: dict[str, object] = {"a": [1]}
    taken = plain_input(given)
    given["a"] = 2
    assert taken == {"a": [1]}


@pytest.mark.parametrize(
    ("value", "then"),
    [
        pytest.param({"judges": []}, [], id="what fits"),
        pytest.param({}, ["input"], id="what is missing is the object's problem"),
        pytest.param({"judges": [1], "essay": 2}, ["input.essay", "input.judges[0]"], id="every problem is listed"),
    ],
)
def test_input_against_its_schema(value: Json, then: list[str]) -> None:
    try:
        check_input(PROGRAM, value)
        found = list[str]()
    except InputInvalid as refused:
        found = sorted(problem.path for problem in refused.problems)
    assert found == then
