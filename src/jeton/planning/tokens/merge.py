"""Merging the outputs of branches into one value, in the order of branch index."""

from collections.abc import Sequence
from typing import assert_never

import msgspec
from msgspec import UNSET, UnsetType

from jeton.model.definition.workflow import MergeStrategy
from jeton.model.json import Json, JsonObject, kind_of

Outputs = list[tuple[int, Json | UnsetType]]
"""By ascending index; unset if the branch never wrote the merge's source."""


class MergeFailed(msgspec.Struct, frozen=True):
    """A value that the strategy cannot merge."""

    problem: str


def merge(strategy: MergeStrategy, outputs: Outputs) -> Json | MergeFailed:
    """Merge the outputs by a strategy."""
    match strategy:
        case "append":
            return _appended([_or_null(value) for _, value in outputs])
        case "collect":
            return [_or_null(value) for _, value in outputs]
        case "merge_object":
            return _merged(outputs)
        case "keyed_by_branch":
            return {str(index): _or_null(value) for index, value in outputs}
        case "last_wins":
            return _or_null(outputs[-1][1]) if outputs else None
        case _:
            assert_never(strategy)


def source_value(source: str, output: JsonObject) -> Json | UnsetType:
    """The value at the merge's source in a branch's output; unset if it was never written."""
    found: Json = output
    for key in source.split(".")[2:]:
        if not isinstance(found, dict) or key not in found:
            return UNSET
        found = found[key]
    return found


def with_inner_outputs(output: JsonObject, laid: Sequence[tuple[int, int, JsonObject]]) -> JsonObject:
    """The slot's output with those of inner slots merged over it, by group and index."""
    for _, _, inner in sorted(laid, key=lambda entry: entry[:2]):
        output = {**output, **inner}
    return output


def _or_null(value: Json | UnsetType) -> Json:
    return None if isinstance(value, UnsetType) else value


def _appended(values: list[Json]) -> list[Json]:
    flat: list[Json] = []
    for value in values:
        if not isinstance(value, list):
            return values
        flat += value
    return flat


def _merged(outputs: Outputs) -> JsonObject | MergeFailed:
    merged: JsonObject = {}
    for index, value in outputs:
        if isinstance(value, UnsetType):
            continue
        if not isinstance(value, dict):
            return MergeFailed(f"branch {index} left {kind_of(value)} where merge_object needs an object")
        merged.update(value)
    return merged
