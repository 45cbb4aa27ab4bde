"""Rows for token-graphs.md#merge."""

from __future__ import annotations

from typing import Any

from tests.simulation.oracle.rows.fan_in import ALL, KEEP, TWO, simple, x
from tests.simulation.oracle.script import (
    WORK,
    each,
    flow,
    into,
    join,
    no,
    ok,
    row,
    then,
)


def merged(id_: str, strategy: str, values: list[Any], expected: Any, **source: str) -> Any:
    """Branches finish in reverse; ... as a value loses the branch."""
    acts = [
        no(f"root.a.{index}") if value is ... else ok(f"root.a.{index}", value) for index, value in enumerate(values)
    ]
    state = (
        then(status="failed", error="merge_failed") if expected is ... else then(state={"v": expected}, calls="z@root")
    )
    rule = into("state.v", strategy, source.get("source", "_branch.output.x"))
    return row(id_, simple(merge=rule, **KEEP), *reversed(acts), state, input={"items": list(range(len(values)))})


MERGES = [
    merged("append: the values in index order", "append", [{"x": 1}, {"x": [2]}], [1, [2]]),
    merged(
        "append: flattened one level if every value is a list", "append", [{"x": [1]}, {"x": [[2], 3]}], [1, [2], 3]
    ),
    merged("append: a missing source is null", "append", [{"x": [1]}, {}], [[1], None]),
    merged("append: nothing arrived", "append", [..., ...], []),
    merged("collect: never flattened", "collect", [{"x": [1]}, {"x": [2]}], [[1], [2]]),
    merged("collect: nothing arrived", "collect", [...], []),
    merged(
        "merge_object: shallow, higher index wins",
        "merge_object",
        [{"x": {"a": {"p": 1}, "b": 1}}, {"x": {"a": {"q": 2}}}],
        {"a": {"q": 2}, "b": 1},
    ),
    merged("merge_object: skips a missing source", "merge_object", [{"x": {"a": 1}}, {}], {"a": 1}),
    merged("merge_object: fails on a written null", "merge_object", [{"x": {"a": 1}}, {"x": None}], ...),
    merged("merge_object: fails on what is no object", "merge_object", [{"x": 3}], ...),
    merged("merge_object: nothing arrived", "merge_object", [...], {}),
    merged("keyed_by_branch: keyed by index", "keyed_by_branch", [{"x": 1}, ..., {}], {"0": 1, "2": None}),
    merged("keyed_by_branch: nothing arrived", "keyed_by_branch", [...], {}),
    merged("last_wins: the highest arrived index, whoever came last", "last_wins", [{"x": 1}, {"x": 2}, ...], 2),
    merged("last_wins: nothing arrived", "last_wins", [...], None),
    merged(
        "the whole output as a source", "collect", [{"x": 1}, {"y": 2}], [{"x": 1}, {"y": 2}], source="_branch.output"
    ),
    row(
        "a merge replaces what was at the target",
        flow(
            {"p": {"output_mapping": {"state.all": "[9, 9]", "state.k": "1"}}, "a": WORK, "z": {}},
            each("p", "a"),
            join("a", "z", merge=ALL),
        ),
        x(0),
        x(1),
        then(state={"all": [0, 1], "k": 1}),
        input=TWO,
    ),
    row(
        "no merge, the default, writes nothing",
        simple(merge=None),
        x(0),
        x(1),
        then(calls="z@root", state={}, out={}),
        input=TWO,
    ),
    row(
        "a target may be in the output section",
        simple(merge=into("output.a.b", source="_branch.output.x")),
        x(0),
        x(1),
        then(out={"a": {"b": [0, 1]}}),
        input=TWO,
    ),
]
