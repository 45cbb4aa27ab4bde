"""Fan-in and merge: who is awaited, when it opens, and what comes out."""

from typing import Any

import pytest

from tests.conformance.case import Case, Data, Outcome, each, join, mock, to, workflow

SLOW = 60_000


def branches(
    strategy: Any = "all", merge: Data | None = None, delays: tuple[int, ...] = (40, 20, 1), **sync: Any
) -> Data:
    """Three branches of different speed, each leaving its index, into one join and a counter after it."""
    nodes: Data = {"s": {}}
    for i, delay in enumerate(delays):
        nodes[f"b{i}"] = mock({"n": i}, delay)
    nodes["end"] = {"output_mapping": {"state.ends": "has(state.ends) ? state.ends + 1 : 1"}}
    merge = {"target": "state.out", "strategy": "collect", "source": "_branch.output.n", **(merge or {})}
    return workflow(
        nodes,
        *[to("s", f"b{i}", sibling_group="g") for i in range(len(delays))],
        *[join(f"b{i}", "end", strategy, merge, **sync) for i in range(len(delays))],
        output={"out": "state.out", "ends": "state.ends"},
    )


def merging(strategy: str, *outputs: Any, source: str = "_branch.output.v") -> Data:
    """Branches that leave these values, the first the slowest."""
    nodes: Data = {"s": {}, "end": {}}
    for i, value in enumerate(outputs):
        nodes[f"b{i}"] = mock(value, 10 * (len(outputs) - i))
    return workflow(
        nodes,
        *[to("s", f"b{i}", sibling_group="g") for i in range(len(outputs))],
        *[
            join(
                f"b{i}", "end", merge={"target": "state.out", "strategy": strategy, "source": source}, sibling_group="g"
            )
            for i in range(len(outputs))
        ],
        output={"out": "state.out"},
    )


def opened_once(seen: Outcome) -> None:
    assert seen.types().count("fan_in.opened") == 1
    assert seen.count("end") == 1


def the_rest_is_cancelled(seen: Outcome) -> None:
    opened_once(seen)
    assert len(seen.nodes("cancelled")) == 2


def one_is_cancelled(seen: Outcome) -> None:
    opened_once(seen)
    assert len(seen.nodes("cancelled")) == 1


def all_timed_out(seen: Outcome) -> None:
    assert sorted(seen.nodes("timed_out")) == ["b0", "b1", "b2"]
    assert "sync.timed_out" in seen.types()
    assert seen.took_ms >= 80 + 30  # from the first arrival, not from the fan-out


def the_slow_one_timed_out(seen: Outcome) -> None:
    assert seen.nodes("timed_out") == ["b0"]
    opened_once(seen)


def nothing_is_kept(seen: Outcome) -> None:
    assert not [
        name for name in seen.sections if name.startswith(("slots/", "arrived/", "group/", "progress/", "tokens/"))
    ]


CASES = [
    Case(
        "J01 all of three: one continuation, after the last",
        branches(),
        output={"out": [0, 1, 2], "ends": 1},
        also=opened_once,
    ),
    Case(
        "J08 any of three: the first goes on, the others end cancelled, downstream runs once",
        branches("any", delays=(SLOW, SLOW, 1)),
        output={"out": [2], "ends": 1},
        also=the_rest_is_cancelled,
    ),
    Case(
        "J09 two of three: opens at the second, the third is cancelled, the merge has two",
        branches({"m_of_n": 2}, delays=(SLOW, 20, 1)),
        output={"out": [1, 2], "ends": 1},
        also=one_is_cancelled,
    ),
    Case("J10 m = n is all", branches({"m_of_n": 3}), output={"out": [0, 1, 2], "ends": 1}, also=opened_once),
    Case(
        "J10 m = 1 is any with a merge", branches({"m_of_n": 1}, delays=(SLOW, SLOW, 1)), output={"out": [2], "ends": 1}
    ),
    Case(
        "a quorum that can no longer be reached fails at once",
        workflow(
            {"s": {}, "ok": mock(delay_ms=SLOW), "bad": mock(fail="no"), "end": {}},
            to("s", "ok", sibling_group="g"),
            to("s", "bad", sibling_group="g"),
            join("ok", "end", {"m_of_n": 2}, on_branch_failure="continue"),
            join("bad", "end", {"m_of_n": 2}, on_branch_failure="continue"),
        ),
        status="failed",
        error="quorum_impossible",
    ),
    Case(
        "J15 a token that is not in the named group passes straight through",
        workflow(
            {"a": {}, "s": {}, "w": mock(), "end": {"output_mapping": {"output.done": "true"}}},
            to("a", "end", "input.skip", 1, synchronization={"strategy": "all", "sibling_group": "g"}),
            to("a", "s", None, 2),
            to("s", "w", sibling_group="g"),
            join("w", "end", sibling_group="g"),
        ),
        {"skip": True},
        output={"done": True},
    ),
    Case("J16 a single sibling passes at once", branches(delays=(1,)), output={"out": [0], "ends": 1}),
    Case(
        "J17 timeout fail counts from the first arrival; every branch ends timed_out",
        branches(delays=(SLOW, SLOW, 30), timeout_ms=80),
        status="failed",
        error="fan_in_timed_out",
        also=all_timed_out,
    ),
    Case(
        "timeout proceed_with_available opens with those that arrived",
        branches(delays=(SLOW, 20, 1), timeout_ms=150, on_timeout="proceed_with_available"),
        output={"out": [1, 2], "ends": 1},
        also=the_slow_one_timed_out,
    ),
    Case("J20 branch storage is gone after the merge", branches(), also=nothing_is_kept),
    Case(
        "J21 two phases one after the other: the second sees the first's merge, and names may repeat",
        workflow(
            {"s": {}, "w": mock({"n": 2}), "m": {}, "v": mock(output_mapping={"state.n": "item * 10"}), "end": {}},
            to("s", "w", spawn_count=2, sibling_group="g"),
            join(
                "w",
                "m",
                merge={"target": "state.first", "strategy": "collect", "source": "_branch.output.n"},
                sibling_group="g",
            ),
            each("m", "v", "state.first"),
            join(
                "v",
                "end",
                merge={"target": "state.second", "strategy": "collect", "source": "_branch.output.n"},
                sibling_group="g",
            ),
            output={"second": "state.second"},
        ),
        output={"second": [20, 20]},
    ),
    Case(
        "J23 branches of two nodes: the join waits for the second, and the merge holds final outputs",
        workflow(
            {"s": {}, "w": mock({"n": 1}), "v": mock({"m": 2}, 10), "end": {}},
            each("s", "w", "[1, 2]"),
            to("w", "v"),
            join("v", "end", merge={"target": "state.out", "strategy": "collect"}),
            output={"out": "state.out"},
        ),
        output={"out": [{"n": 1, "m": 2}, {"n": 1, "m": 2}]},
    ),
    Case(
        "J26 a failed branch under continue: the join opens, the merge holds successes only",
        workflow(
            {"s": {}, "ok": mock({"n": 1}, 10), "bad": mock(fail="no"), "end": {}},
            to("s", "ok", sibling_group="g"),
            to("s", "bad", sibling_group="g"),
            *[
                join(n, "end", merge={"target": "state.out", "strategy": "collect"}, on_branch_failure="continue")
                for n in ("ok", "bad")
            ],
            output={"out": "state.out"},
        ),
        output={"out": [{"n": 1}]},
    ),
    Case(
        "J28 the continuation takes its loop counts from the token that fanned out",
        workflow(
            {"s": {"output_mapping": {"state.n": "has(state.n) ? state.n + 1 : 1"}}, "w": mock(), "m": {}, "end": {}},
            each("s", "w", "[1, 2]"),
            join("w", "m"),
            to("m", "s", None, 1, loop_config={"max_iterations": 2}),
            to("m", "end", None, 2),
            output={"n": "state.n"},
        ),
        output={"n": 3},
    ),
    Case(
        "every branch lost under all: the join opens with an empty merge",
        workflow(
            {"s": {}, "bad": mock(fail="no"), "end": {}},
            each("s", "bad", "[1, 2]"),
            join("bad", "end", merge={"target": "state.out", "strategy": "append"}, on_branch_failure="continue"),
            output={"out": "state.out"},
        ),
        output={"out": []},
    ),
    Case(
        "every branch lost under any: the run fails",
        workflow(
            {"s": {}, "bad": mock(fail="no"), "end": {}},
            each("s", "bad", "[1, 2]"),
            join("bad", "end", "any", on_branch_failure="continue"),
        ),
        status="failed",
        error="fan_in_lost",
    ),
    Case(
        "a branch that ends elsewhere is lost to the join",
        workflow(
            {"s": {}, "w": {}, "end": {}, "away": {}},
            each("s", "w", "[1, 2, 3]"),
            to("w", "away", "item == 2", 1),
            join(
                "w",
                "end",
                merge={"target": "state.out", "strategy": "collect", "source": "_branch.output.x"},
                priority=2,
            ),
            output={"n": "size(state.out)"},
        ),
        output={"n": 2},
    ),
    Case(
        "inner slots nobody joined arrive for the outer one, laid over in index order",
        workflow(
            {"s": {}, "o": {}, "w": mock(output_mapping={"state.last": "inner", "state.o": "outer"}), "end": {}},
            each("s", "o", "[1, 2]", "outer", "o"),
            each("o", "w", "[7, 8]", "inner", "i"),
            join("w", "end", merge={"target": "state.out", "strategy": "collect"}, sibling_group="o"),
            output={"out": "state.out"},
        ),
        output={"out": [{"last": 8, "o": 1}, {"last": 8, "o": 2}]},
    ),
    Case(
        "abandoned branches neither route on nor hold the run open",
        branches("any", delays=(SLOW, SLOW, 1), on_early_complete="abandon"),
        output={"out": [2], "ends": 1},
        also=the_rest_is_cancelled,
    ),
    Case(
        "J02 append: index order although arrivals are reversed",
        merging("append", {"v": 0}, {"v": 1}, {"v": 2}),
        output={"out": [0, 1, 2]},
    ),
    Case(
        "append flattens one level when every value is a list",
        merging("append", {"v": [1, [2]]}, {"v": [3]}),
        output={"out": [1, [2], 3]},
    ),
    Case("append keeps lists beside other values", merging("append", {"v": [1]}, {"v": 2}), output={"out": [[1], 2]}),
    Case("J06 collect keeps nesting", merging("collect", {"v": [1]}, {"v": [2]}), output={"out": [[1], [2]]}),
    Case(
        "J03 merge_object: the higher index wins, shallow only",
        merging("merge_object", {"v": {"k": 1, "d": {"a": 1}}}, {"v": {"k": 2, "d": {"b": 1}}}),
        output={"out": {"k": 2, "d": {"b": 1}}},
    ),
    Case("merge_object skips a missing source", merging("merge_object", {"v": {"k": 1}}, {}), output={"out": {"k": 1}}),
    Case(
        "merge_object fails on a written null",
        merging("merge_object", {"v": {"k": 1}}, {"v": None}),
        status="failed",
        error="merge_failed",
    ),
    Case(
        "J04 keyed_by_branch",
        merging("keyed_by_branch", {"v": 5}, {"v": 6}, {"v": 7}),
        output={"out": {"0": 5, "1": 6, "2": 7}},
    ),
    Case(
        "last_wins is the highest index, not the last to arrive",
        merging("last_wins", {"v": 5}, {"v": 6}),
        output={"out": 6},
    ),
    Case(
        "J07 a source under _branch.output takes only that field, and a missing one is null",
        merging("collect", {"v": 5, "w": 1}, {"w": 1}),
        output={"out": [5, None]},
    ),
]

ROWS = [pytest.param(case, id=case.id) for case in CASES]
