"""Queries over runs: how they are read, and what they mean."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeton.engine.browse.query import (
    RunQuery,
    Scalar,
    StateTerm,
    read_query,
    read_statuses,
    same_scalar,
    scalar_in,
    value_at,
)
from jeton.model.failure import Refused
from jeton.model.json import Json


@pytest.mark.parametrize(
    ("text", "then"),
    [
        pytest.param("", RunQuery(), id="nothing means every run"),
        pytest.param("  \t ", RunQuery(), id="spaces are nothing"),
        pytest.param("refund 12", RunQuery(words=("refund", "12")), id="words are all wanted"),
        pytest.param('"connection reset" x', RunQuery(words=("connection reset", "x")), id="quotes keep spaces"),
        pytest.param('"a:b"', RunQuery(words=("a:b",)), id="quotes keep colons"),
        pytest.param(r'"say \"hi\""', RunQuery(words=('say "hi"',)), id="quotes in quotes"),
        pytest.param("workflow:panel@3", RunQuery(workflow=("panel@3",)), id="a version"),
        pytest.param("key:a:b", RunQuery(key=("a:b",)), id="only the first colon ends a field"),
        pytest.param(
            "status:failed,waiting", RunQuery(statuses=frozenset({"failed", "waiting"})), id="one of two statuses"
        ),
        pytest.param(
            "status:failed,waiting status:failed", RunQuery(statuses=frozenset({"failed"})), id="statuses narrow"
        ),
        pytest.param("state.n:12", RunQuery(state=(StateTerm(("n",), 12),)), id="a number"),
        pytest.param('state.n:"12"', RunQuery(state=(StateTerm(("n",), "12"),)), id="in quotes it is text"),
        pytest.param("state.a.0.b:true", RunQuery(state=(StateTerm(("a", "0", "b"), True),)), id="a path"),
        pytest.param("state.x:null", RunQuery(state=(StateTerm(("x",), None),)), id="null"),
        pytest.param("node:a error:time trigger:webhook", RunQuery(node=("a",), error=("time",), trigger=("webhook",)),
                     id="several fields"),
    ],
)  # fmt: skip
def test_a_query_is_read(text: str, then: RunQuery) -> None:
    assert read_query(text) == then


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        pytest.param("statsu:failed", "'status'", id="a typo in a field names the nearest"),
        pytest.param("workflw:a", "'workflow'", id="another"),
        pytest.param("state:1", "'state.PATH'", id="a state without a path"),
        pytest.param("input.n:1", "state.PATH", id="what is not searched"),
        pytest.param("zzz:1", "there are", id="nothing like it lists all"),
        pytest.param("status:fialed", "'failed'", id="a typo in a status"),
        pytest.param("status:failed status:waiting", "comma", id="two statuses at once"),
        pytest.param("status: failed", "without a space", id="a space behind the colon"),
        pytest.param('"open', "quotes", id="quotes that do not close"),
        pytest.param("state..n:1", "state.order.amount", id="an empty part of a path"),
        pytest.param("workflow:a@x", "a@3", id="no version"),
        pytest.param("x " * 51, "less", id="too many terms"),
        pytest.param("x" * 2001, "less", id="too long"),
    ],
)
def test_what_is_no_query_is_refused_with_what_was_meant(text: str, remedy: str) -> None:
    with pytest.raises(Refused) as refused:
        read_query(text)
    assert refused.value.code == "bad_query"
    assert remedy in refused.value.remedy


@given(st.text(max_size=60) | st.text('abc:".\\ state', max_size=30))
def test_any_text_is_a_query_or_is_refused(text: str) -> None:
    try:
        read_query(text)
    except Refused as problem:
        refused = problem
    else:
        return
    assert refused.code == "bad_query"


@given(st.lists(st.text(min_size=1, max_size=10), max_size=5), st.sampled_from(["trigger", "key", "error", "node"]))
def test_whatever_is_quoted_comes_back_as_it_was(texts: list[str], field: str) -> None:
    quoted = ['"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"' for text in texts]
    assert read_query(" ".join(quoted)).words == tuple(texts)
    assert getattr(read_query(" ".join(f"{field}:{text}" for text in quoted)), field) == tuple(texts)


@pytest.mark.parametrize(
    ("text", "value"),
    [("12", 12), ("-0.5", -0.5), ("1e3", 1000.0), ("true", True), ("null", None), ("012", "012"), ("a", "a")],
)  # fmt: skip
def test_values_without_quotes_have_types(text: str, value: Scalar) -> None:
    assert scalar_in(text) == value
    assert type(scalar_in(text)) is type(value)


@pytest.mark.parametrize(
    ("value", "wanted", "then"),
    [
        (1, 1, True),
        (1.0, 1, True),
        (True, 1, False),
        (1, True, False),
        (0, False, False),
        (None, None, True),
        (None, False, False),
        ("1", 1, False),
        (1, "1", False),
        ("a", "a", True),
        ([1], "1", False),
        ({"a": 1}, None, False),
    ],
)
def test_values_are_the_same_if_their_types_are(value: Json, wanted: Scalar, then: bool) -> None:
    assert same_scalar(value, wanted) is then


def test_a_path_goes_through_objects_and_lists() -> None:
    state: Json = {"a": [{"b": 1}], "n": None}
    assert value_at(state, ("a", "0", "b")) == (1,)
    assert value_at(state, ("n",)) == (None,)
    for path in (("a", "1"), ("a", "-1"), ("a", "x"), ("n", "x"), ("a", "9" * 30), ("a", "²")):
        assert value_at(state, path) is None


def test_statuses_of_a_parameter_are_refused_as_an_argument() -> None:
    with pytest.raises(Refused) as refused:
        read_statuses("failed,")
    assert refused.value.code == "bad_argument"
