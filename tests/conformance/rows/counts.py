"""Numbers from data: quorums, limits and timeouts as expressions."""

from typing import Any

import pytest

from tests.conformance.case import Case, Data, each, join, mock, to, workflow

MERGE: Data = {"source": "_branch.output.n", "target": "state.out", "strategy": "collect"}
FAILS = mock({}, 1, fail="no")
SLOW = 60_000
NO_COUNTS: tuple[Any, ...] = (0, -1, 2.0, "2", None, True, [])


def panel(needed: Any, *judges: Data, **sync: Any) -> Data:
    """A branch per judge into one quorum."""
    return workflow(
        {"s": {}, **{f"j{i}": judge for i, judge in enumerate(judges)}, "end": {}},
        *[to("s", f"j{i}", sibling_group="g") for i in range(len(judges))],
        *[join(f"j{i}", "end", {"m_of_n": needed}, MERGE, **sync) for i in range(len(judges))],
        output={"out": "state.out"},
    )


def quick(n: int) -> Data:
    return mock({"n": n}, 10 * n)


def over(items: str, needed: Any, delay_ms: int = 0, **more: Any) -> Data:
    """A branch per item into one quorum."""
    return workflow(
        {"s": {}, "w": mock({"n": 1}, delay_ms), "end": {}},
        each("s", "w", items, **more),
        join("w", "end", {"m_of_n": needed}, MERGE),
        output={"out": "state.out"},
    )


def task(timeout_ms: Any, delay_ms: int = 0, execution: Data | None = None) -> Data:
    """One node with one task."""
    action: Data = {"kind": "mock", "implementation": {"delay_ms": delay_ms}}
    if execution is not None:
        action["execution"] = execution
    steps: Data = {"steps": [{"action": action}]}
    return workflow({"a": {"task": steps if timeout_ms is None else {**steps, "timeout_ms": timeout_ms}}})


def fails(id: str, graph: Data, error: str, **input: Any) -> Any:
    return pytest.param(Case(id, graph, input, "failed", error=error), id=id)


def gives(id: str, graph: Data, out: Any, **input: Any) -> Any:
    return pytest.param(Case(id, graph, input, output={"out": out}), id=id)


LOST = {"on_branch_failure": "continue"}
ROWS = [
    gives(
        "a quorum from data opens its fan-in",
        panel("size(input.judges) - 1", quick(1), quick(2), quick(9)),
        [1, 2],
        judges=[1, 2, 3],
    ),
    fails(
        "a quorum from data that cannot be met",
        panel("input.n", quick(1), FAILS, FAILS, **LOST),
        "quorum_impossible",
        n=2,
    ),
    fails("a quorum from data with the last loss", panel("input.n", FAILS, FAILS, **LOST), "quorum_impossible", n=1),
    *(
        fails(f"a quorum of {value!r} is none", panel("input.n", quick(1)), "not_a_count", n=value)
        for value in NO_COUNTS
    ),
    fails("a missing quorum is none", panel("input.gone", quick(1)), "not_a_count"),
    fails("an error in a quorum", panel("1 / input.n", quick(1)), "expression_error", n=0),
    fails("a quorum that is none with the last loss", panel("input.n", FAILS, **LOST), "not_a_count", n=0),
    gives("over an empty list a quorum is not evaluated", over("[]", "1 / 0"), []),
    gives(
        "a quorum is what it was at the first arrival",
        workflow(
            {
                "s": {},
                **{f"j{n}": mock({"n": n}, 20 * n) for n in (1, 2, 3, 4)},
                "flag": mock({}, 30, output_mapping={"state.flag": "true"}),
                "end": {},
            },
            *[to("s", f"j{n}", sibling_group="g") for n in (1, 2, 3, 4)],
            to("s", "flag"),
            *[join(f"j{n}", "end", {"m_of_n": "has(state.flag) ? 1 : 3"}, MERGE) for n in (1, 2, 3, 4)],
            output={"out": "state.out"},
        ),
        [1, 2, 3],
    ),
    gives("a quorum reads the run", panel("size([run.id])", quick(1), quick(9)), [1]),
    pytest.param(
        Case(
            "max_parallel from data",
            over("[1, 2, 3, 4]", 4, 5, max_parallel="input.n"),
            {"n": 2},
            output={"out": [1, 1, 1, 1]},
        ),
        id="max_parallel from data",
    ),
    fails("a max_parallel of 0 fails the node", over("[1]", 1, max_parallel="input.n"), "not_a_count", n=0),
    fails("an error in max_parallel", over("[1]", 1, max_parallel="1 / input.n"), "expression_error", n=0),
    fails(
        "the timeout of a fan-in from data",
        panel(2, quick(1), mock({"n": 2}, SLOW), timeout_ms="input.ms"),
        "fan_in_timed_out",
        ms=30,
    ),
    fails("a timeout that is no whole number", panel(1, quick(1), timeout_ms="input.ms"), "not_a_count", ms=0.5),
    pytest.param(
        Case(
            "the timeout of a gate from data",
            workflow({"a": {"gate": {"title": "?", "timeout_ms": "input.ms", "on_timeout": {}}}}),
            {"ms": 20},
        ),
        id="the timeout of a gate from data",
    ),
    fails(
        "a gate whose timeout is text",
        workflow({"a": {"gate": {"title": "?", "timeout_ms": "input.ms"}}}),
        "not_a_count",
        ms="x",
    ),
    fails(
        "the timeout of a signal from data",
        workflow({"a": {"wait": {"signal": "go", "timeout_ms": "input.ms"}}}),
        "timed_out",
        ms=20,
    ),
    fails("the timeout of a task from its input", task("input.ms", SLOW), "timed_out", ms=30),
    fails("a task whose timeout is 0", task("size(run.id) - size(run.id)"), "not_a_count"),
    fails(
        "the timeout of an action from the task's input",
        task(None, SLOW, {"timeout_ms": "input.ms"}),
        "action_timed_out",
        ms=30,
    ),
    fails("a run whose timeout is 0", workflow({"a": {}}, timeout_ms="input.ms"), "not_a_count", ms=0),
    pytest.param(
        Case(
            "the timeout of a run from its input",
            workflow({"a": mock({}, SLOW)}, timeout_ms="input.ms"),
            {"ms": 30},
            "timed_out",
            error="timed_out",
        ),
        id="the timeout of a run from its input",
    ),
]
