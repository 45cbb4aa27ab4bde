"""Rows for token-graphs.md#fan-in, token-graphs.md#merge and token-graphs.md#fan-in-failures."""

from __future__ import annotations

from typing import Any

from tests.simulation.oracle.script import (
    WORK,
    Act,
    Object,
    each,
    flow,
    go,
    into,
    join,
    no,
    ok,
    row,
    then,
)

TWO = {"items": [7, 8]}
THREE = {"items": [7, 8, 9]}
ALL = into("state.all", source="_branch.output.x")


def simple(**sync: Any) -> Object:
    """p fans out to a, whose tokens are joined at z."""
    return flow({"p": {}, "a": WORK, "z": WORK}, each("p", "a"), join("a", "z", **{"merge": ALL, **sync}))


def x(index: int) -> Act:
    return ok(f"root.a.{index}", {"x": index})


def lose(index: int) -> Act:
    return no(f"root.a.{index}")


KEEP = {"on_branch_failure": "continue"}

FAN_IN = [
    row(
        "all waits for every slot, and merges in index order",
        simple(),
        x(2),
        x(0),
        then(calls="a@root.a.1", state={}),
        x(1),
        then(calls="z@root", state={"all": [0, 1, 2]}),
        input=THREE,
    ),
    row(
        "one continuation goes to the target, on the path of the token that fanned out",
        simple(),
        x(0),
        x(1),
        ok("z"),
        then(
            status="completed",
            tokens="p@root completed, a@root.a.0 completed, a@root.a.1 completed, "
            "z@root.a.0 completed, z@root.a.1 completed, z@root completed",
            parents=[None, 0, 0, 1, 2, 0],
        ),
        input=TWO,
    ),
    row(
        "any opens at the first arrival",
        simple(strategy="any"),
        x(1),
        then(calls="z@root", state={"all": [1]}),
        input=THREE,
    ),
    row(
        "m_of_n opens at the M-th arrival",
        simple(strategy={"m_of_n": 2}),
        x(2),
        then(calls="a@root.a.0 a@root.a.1"),
        x(0),
        then(calls="z@root", state={"all": [0, 2]}),
        input=THREE,
    ),
    row(
        "m_of_n fails as soon as fewer than M can arrive",
        simple(strategy={"m_of_n": 2}, **KEEP),
        lose(0),
        then(status="running"),
        lose(2),
        then(status="failed", error="quorum_impossible"),
        input=THREE,
    ),
    row(
        "m_of_n above the total fails before any branch begins",
        simple(strategy={"m_of_n": 3}),
        then(
            status="failed",
            error="quorum_impossible",
            tokens="p@root completed, a@root.a.0 cancelled, a@root.a.1 cancelled",
        ),
        input=TWO,
    ),
    row(
        "on_branch_failure fail, the default, fails the run",
        simple(),
        lose(0),
        then(status="failed", error="boom", tokens="p@root completed, a@root.a.0 failed, a@root.a.1 cancelled"),
        input=TWO,
    ),
    row(
        "on_branch_failure continue loses the branch",
        simple(**KEEP),
        lose(0),
        x(1),
        then(calls="z@root", state={"all": [1]}),
        input=TWO,
    ),
    row(
        "all with every slot lost opens with an empty merge",
        simple(**KEEP),
        lose(0),
        lose(1),
        then(calls="z@root", state={"all": []}),
        input=TWO,
    ),
    row(
        "any with every slot lost fails",
        simple(strategy="any", **KEEP),
        lose(0),
        lose(1),
        then(status="failed", error="fan_in_lost"),
        input=TWO,
    ),
    row(
        "a slot that ends elsewhere is lost",
        flow(
            {"p": {}, "a": WORK, "y": {}, "z": WORK},
            each("p", "a"),
            {**join("a", "z", merge=ALL), "condition": "has(result.x)"},
            go("a", "y", priority=2),
        ),
        ok("root.a.0"),
        x(1),
        then(calls="z@root", state={"all": [1]}),
        input=TWO,
    ),
    row(
        "siblings may come over different transitions",
        flow(
            {"p": {}, "a": WORK, "b": WORK, "z": WORK},
            go("p", "a"),
            go("p", "b"),
            join("a", "z", merge=ALL),
            join("b", "z", merge=ALL),
        ),
        ok("b", {"x": 1}),
        ok("a", {"x": 0}),
        then(calls="z@root", state={"all": [0, 1]}),
    ),
    row(
        "fan_in on a node is the same synchronization on every transition into it",
        flow(
            {"p": {}, "a": WORK, "b": WORK, "z": {**WORK, "fan_in": {"merge": ALL}}},
            go("p", "a"),
            go("p", "b"),
            go("a", "z"),
            go("b", "z"),
        ),
        ok("b", {"x": 1}),
        ok("a", {"x": 0}),
        then(calls="z@root", state={"all": [0, 1]}),
    ),
    row(
        "a branch that leads straight to the fan-in arrives at once",
        flow({"p": {}, "a": WORK, "z": {**WORK, "fan_in": {}}}, go("p", "a"), go("p", "z"), go("a", "z")),
        then(calls="a@root.a.0", tokens="p@root completed, a@root.a.0 dispatched, z@root.z.1 waiting_for_siblings"),
        ok("a"),
        then(calls="z@root"),
    ),
    row(
        "a token that is in no group, or not in the named one, passes straight through",
        flow(
            {"p": {}, "a": WORK, "z": WORK, "y": WORK},
            join("p", "a"),
            each("a", "z"),
            join("z", "y", sibling_group="other"),
        ),
        then(calls="a@root"),
        ok("a"),
        ok("root.z.1"),
        then(calls="z@root.z.0 y@root.z.1"),
        input=TWO,
    ),
    row(
        "a slot that arrived at one fan-in is lost to the group's others, and both open",
        flow(
            {"p": {}, "a": WORK, "y": WORK, "z": WORK},
            each("p", "a"),
            {**join("a", "y", merge=into("state.y")), "condition": "result.x == 0"},
            {**join("a", "z", merge=into("state.z")), "priority": 2},
        ),
        x(1),
        x(0),
        then(calls="a@root.a.2"),
        x(2),
        then(calls="z@root y@root", state={"y": [{"x": 0}], "z": [{"x": 1}, {"x": 2}]}),
        input=THREE,
    ),
    row(
        "of two joins the one no slot reaches never opens, nor fails",
        flow(
            {"p": {}, "a": WORK, "y": {}, "z": WORK},
            each("p", "a"),
            {**join("a", "y", strategy={"m_of_n": 2}), "condition": "result.x == 9"},
            {**join("a", "z"), "priority": 2},
        ),
        x(0),
        x(1),
        ok("z"),
        then(status="completed"),
        input=TWO,
    ),
    row(
        "the continuation has the loop counts of the token that fanned out",
        flow(
            {"p": {}, "a": WORK, "z": WORK, "y": WORK},
            each("p", "a"),
            go("a", "a", condition="result.again", loop_config={"max_iterations": 1}),
            {**join("a", "z"), "priority": 2},
            go("z", "p", loop_config={"max_iterations": 1}),
            go("z", "y", priority=2),
        ),
        ok("a", {"again": True}),
        ok("a", {"again": True}),
        ok("z"),
        ok("a", {"again": True}),
        then(calls="a@root.a.0"),
        ok("a", {"again": True}),
        ok("z"),
        then(calls="y@root"),
        input={"items": [1]},
    ),
]
