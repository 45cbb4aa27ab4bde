"""The library is the authority on CEL: whatever we evaluate ourselves must agree with it."""

import math
import re
from unittest import mock
from unittest.mock import DEFAULT

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jeton.expression import EvaluationResult, Failed, Json, Missing, compile_expression
from jeton.expression.compile import operators
from jeton.expression.library import CelError, Program, compile_part
from jeton.expression.problems import ExpressionInvalid
from jeton.expression.unparse import unparse
from tests.expression.grammar import ANYTHING, FOREIGN, SCOPES, TYPED_SCOPES, VARIABLES, WELL_TYPED

operators_doubles, operators_finite = operators.doubles, operators.finite
NO_KEY = re.compile(r'Key not found in map : "?(.*?)"?$|No value with name "(.*)" found', re.DOTALL)


def by_library(program: Program, scope: dict[str, Json]) -> EvaluationResult:
    """What the library gives for the whole expression and the whole scope."""
    try:
        return program.run(scope)
    except CelError as error:
        missing = NO_KEY.search(str(error))
        return Missing(missing[1] or missing[2] or "") if missing else Failed(str(error), "1:1", {})


def agree(ours: EvaluationResult, theirs: EvaluationResult) -> bool:
    match ours, theirs:
        case Missing(path), Missing(key):
            return (
                path.endswith((key, f'["{key}"]', f"[{key}]")) or "e+" in key
            )  # large doubles are spelled differently
        case Failed(), Failed():
            return True
        case Failed("the result is inf, which JSON does not have" | "the result is nan, which JSON does not have" |
                    "the result is -inf, which JSON does not have"), _:  # fmt: skip
            return not finite(theirs)
        case _:
            return canonical(ours) == canonical(theirs)


def finite(value: EvaluationResult) -> bool:
    match value:
        case list():
            return all(map(finite, value))
        case dict():
            return all(map(finite, value.values()))
        case float():
            return math.isfinite(value)
        case _:
            return True


def canonical(value: EvaluationResult) -> str:
    """A spelling that tells 1 from 1.0 and from true, and does not depend on the order of keys."""
    match value:
        case list():
            return f"[{', '.join(map(canonical, value))}]"
        case dict():
            return f"{{{', '.join(f'{key}: {canonical(value[key])}' for key in sorted(value))}}}"
        case _:
            return repr(value).replace("-nan", "nan")  # its sign depends on the processor


def check(source: str, scope: dict[str, Json]) -> None:
    if any(binding in source for binding in ("cel.bind", "optMap")) and any(
        loop in source for loop in (".exists", ".all")
    ):
        return  # here the library is wrong: see test_a_binding_after_a_loop_that_ended_early
    try:
        expression = compile_expression(source, VARIABLES)
    except ExpressionInvalid:
        return
    with mock.patch.multiple(operators, doubles=DEFAULT, finite=DEFAULT) as differing:
        differing["doubles"].side_effect = operators_doubles
        differing["finite"].side_effect = operators_finite
        ours = expression.evaluate(scope)
    if any(type(a) is not type(b) or b == 0 for _, _, a, b in (each.args for each in differing["doubles"].mock_calls)):
        return  # numbers mix, and division by zero is an error, other than in CEL
    if any(value - value != 0 for value, _ in (call.args for call in differing["finite"].mock_calls)):
        return  # what is not finite is an error, other than in CEL
    try:
        program = compile_part(source, VARIABLES)
    except RuntimeError:
        return  # its checker knows that numbers would mix, where we did not come to it
    theirs = by_library(program, scope)
    assert agree(ours, theirs), (ours, theirs)


@settings(max_examples=200)
@given(source=ANYTHING, scope=SCOPES)
def test_we_agree_with_the_library_on_anything(source: str, scope: dict[str, Json]) -> None:
    check(source, scope)


@settings(max_examples=200)
@given(source=WELL_TYPED, scope=TYPED_SCOPES)
def test_we_agree_with_the_library_on_what_mostly_works(source: str, scope: dict[str, Json]) -> None:
    check(source, scope)


@settings(max_examples=200)
@given(source=FOREIGN, scope=SCOPES)
def test_we_agree_with_the_library_on_values_that_json_does_not_have(source: str, scope: dict[str, Json]) -> None:
    check(source, scope)


@settings(max_examples=100)
@given(source=WELL_TYPED, scope=TYPED_SCOPES)
def test_a_tree_means_the_same_written_as_source_again(source: str, scope: dict[str, Json]) -> None:
    program = compile_part(source, VARIABLES)
    again = compile_part(unparse(program.tree()), VARIABLES)
    assert agree(by_library(again, scope), by_library(program, scope))


def test_a_binding_after_a_loop_that_ended_early() -> None:
    source = "[dyn([1, 2].exists(i, i == 1)), cel.bind(v, 5, v)]"
    assert compile_expression(source, VARIABLES).evaluate({}) == [True, 5]
    assert by_library(compile_part(source, VARIABLES), {}) == [True, 2]  # once this fails, so can our workaround go


@pytest.mark.parametrize("operator", ["+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "in", "&&", "||"])
@settings(max_examples=50)
@given(left=SCOPES.map(lambda scope: scope["n"]), right=SCOPES.map(lambda scope: scope["n"]))
def test_operators(operator: str, left: Json, right: Json) -> None:
    check(f"n {operator} input", {"n": left, "input": right})


@given(container=st.lists(st.integers(), max_size=3) | st.dictionaries(st.sampled_from("ab"), st.none()), key=SCOPES)
def test_indexing(container: Json, key: dict[str, Json]) -> None:
    check("n[input]", {"n": container, "input": key["n"]})
