"""How the branches' outputs become one value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from jeton.model.definition.workflow import MergeStrategy
from jeton.model.json import Json, JsonObject
from jeton.planning.tokens.merge import MergeFailed, Outputs, merge, source_value, with_inner_outputs


@pytest.mark.parametrize(
    ("strategy", "outputs", "then"),
    [
        pytest.param("append", [(0, 1), (2, [2])], [1, [2]], id="append keeps a list beside other values"),
        pytest.param("append", [(0, [1]), (2, [2])], [1, 2], id="append flattens lists one level"),
        pytest.param("append", [], [], id="append of nothing"),
        pytest.param("collect", [(0, [1]), (1, UNSET)], [[1], None], id="collect never flattens; missing is null"),
        pytest.param("merge_object", [(0, {"a": 1}), (1, {"a": 2})], {"a": 2}, id="the higher index wins"),
        pytest.param("merge_object", [(0, UNSET), (1, {"a": 2})], {"a": 2}, id="merge_object skips a missing source"),
        pytest.param("merge_object", [], {}, id="merge_object of nothing"),
        pytest.param("keyed_by_branch", [(0, 5), (7, UNSET)], {"0": 5, "7": None}, id="keyed by index, gaps and all"),
        pytest.param("last_wins", [(0, 5), (7, 6)], 6, id="last_wins takes the highest index"),
        pytest.param("last_wins", [], None, id="last_wins of nothing"),
    ],
)
def test_merging(strategy: MergeStrategy, outputs: Outputs, then: Json) -> None:
    assert merge(strategy, outputs) == then


@pytest.mark.parametrize("value", [pytest.param(v, id=repr(v)) for v in (None, 1, "x", [1])])
def test_merge_object_fails_on_what_is_not_an_object(value: Json) -> None:
    assert isinstance(merge("merge_object", [(0, value)]), MergeFailed)


@pytest.mark.parametrize(
    ("source", "then"),
    [
        pytest.param("_branch.output", {"a": {"b": None}}, id="the whole output"),
        pytest.param("_branch.output.a.b", None, id="a written null is there"),
        pytest.param("_branch.output.a.c", UNSET, id="a path never written is not"),
        pytest.param("_branch.output.a.b.c", UNSET, id="nor one through a value that is no object"),
    ],
)
def test_what_a_branch_brings(source: str, then: object) -> None:
    assert source_value(source, {"a": {"b": None}}) == then


def test_inner_outputs_are_laid_over_in_the_order_of_their_groups_then_by_index() -> None:
    laid: list[tuple[int, int, JsonObject]] = [
        (2, 0, {"k": "third"}),
        (1, 1, {"k": "second"}),
        (1, 0, {"k": "first", "j": 1}),
    ]
    assert with_inner_outputs({"k": "own", "i": 0}, laid) == {"k": "third", "j": 1, "i": 0}


@given(st.permutations(range(5)))
def test_laying_over_does_not_depend_on_who_settled_first(order: list[int]) -> None:
    laid: list[tuple[int, int, JsonObject]] = [(1, index, {"k": index}) for index in order]
    assert with_inner_outputs({}, laid) == {"k": 4}
