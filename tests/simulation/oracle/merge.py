"""token-graphs.md#merge: how the outputs of the arrived slots, in index order, become one value."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from tests.simulation.oracle.model import Object, is_list, is_object

MISSING: Any = object()


class MergeFailed(Exception):
    pass


def source_value(source: str, output: Object) -> Any:
    """token-graphs.md#merge: `source` is `_branch.output` or a path under it."""
    value: Any = output
    for key in source.split(".")[2:]:
        if not is_object(value) or key not in value:
            return MISSING
        value = value[key]
    return deepcopy(value)


def merge(rule: Object, outputs: list[tuple[int, Object]]) -> Any:
    """outputs: (index, output) of the arrived slots."""
    # "Order is always branch index, never arrival."
    found = [(index, source_value(rule["source"], output)) for index, output in sorted(outputs, key=lambda one: one[0])]
    # "A missing source is null (`merge_object` skips it)."
    values = [(index, None if value is MISSING else value) for index, value in found]
    match rule["strategy"]:
        case "append":  # "list of the values (if every value is a list, flattened one level)"; nothing arrived: []
            lists = [value for _, value in values if is_list(value)]
            if len(lists) == len(values):
                return [item for value in lists for item in value]
            return [value for _, value in values]
        case "collect":  # "list, never flattened"; nothing arrived: []
            return [value for _, value in values]
        case "merge_object":  # "shallow, higher index wins, a non-object value fails the fan-in"; nothing arrived: {}
            merged: Object = {}
            for index, value in found:
                if value is MISSING:
                    continue
                if not is_object(value):  # "fails on a written null" (Corners)
                    raise MergeFailed(f"branch {index} has {value!r} at {rule['source']}, which is not an object")
                merged.update(value)
            return merged
        case "keyed_by_branch":  # "object keyed "0", "1"…"; nothing arrived: {}
            return {str(index): value for index, value in values}
        case "last_wins":  # "the value of the highest arrived index"; nothing arrived: null
            return values[-1][1] if values else None
        case other:
            raise ValueError(f"no merge strategy {other!r}")
