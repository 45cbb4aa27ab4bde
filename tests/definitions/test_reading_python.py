"""Python values are checked and copied like a file."""

from datetime import date

import pytest

from jeton.definitions import library_from
from jeton.definitions.report import Report
from jeton.definitions.text.python import read_python


def _holding_itself() -> list[object]:
    value: list[object] = []
    value.append(value)
    return value


def _doubled(times: int) -> list[object]:
    """A value of a few hundred bytes that is 2^times values long."""
    value: list[object] = []
    for _ in range(times):
        value = [value, value]
    return value


@pytest.mark.parametrize(
    ("value", "code", "path"),
    [
        pytest.param({1: 2}, "key_not_text", "", id="a key that is no text"),
        pytest.param({"a": {3}}, "not_plain_data", "a", id="a set"),
        pytest.param({"a": [date(2026, 1, 2)]}, "not_plain_data", "a[0]", id="a date"),
        pytest.param({"a": b"x"}, "not_plain_data", "a", id="bytes"),
        pytest.param({"a": float("nan")}, "number_not_finite", "a", id="not a number"),
        pytest.param({"a": 2**63}, "number_too_large", "a", id="an integer of 65 bits"),
        pytest.param({"a": 10**5000}, "number_too_large", "a", id="an integer of 5000 digits"),
        pytest.param({"a": "\ud800"}, "text_refused", "a", id="half of a surrogate pair"),
        pytest.param({"a\0": 1}, "text_refused", "", id="a NUL in a key"),
        pytest.param(_holding_itself(), "too_deep", "[0]" * 10, id="a list that holds itself"),
        pytest.param(_doubled(40), "too_many_values", None, id="a value that shares its parts without end"),
    ],
)
def test_what_values_may_not_hold(value: object, code: str, path: str | None) -> None:
    report = Report()
    read_python(value, "", report)
    first, *_ = report.problems
    assert first.code == code
    assert path is None or first.path == path
    assert first.line == 0


def test_tuples_are_lists() -> None:
    report = Report()
    document = read_python({"a": (1, 2)}, "", report)
    assert document is not None
    assert document.value == {"a": [1, 2]}
    assert report.problems == ()


def test_what_the_caller_changes_later_changes_nothing() -> None:
    data = {"workflows": {"w": {"initial_node": "a", "nodes": {"a": {"input_mapping": {"x": "1"}}}}}}
    library = library_from(data).require()
    data["workflows"]["w"]["nodes"] = {}
    assert library.workflows["w"].nodes["a"].input_mapping == {"x": "1"}
