"""Fan-out: slots, what each sees, and what nobody else does."""

import pytest

from tests.conformance.case import Case, Data, Outcome, each, join, mock, sets, to, workflow

ABOUT: Data = {
    "input_mapping": {"x": "item"},
    "output_mapping": {"state.x": "item", "state.i": "_branch.index", "state.t": "_branch.total"},
}
OUT = {"target": "state.out", "strategy": "append"}
EACH = workflow(
    {"s": {}, "w": mock(**ABOUT), "end": {}},
    each("s", "w", "input.items"),
    join("w", "end", merge=OUT),
    output={"out": "state.out"},
)


def spawned(seen: Outcome) -> None:
    made = [t for t in seen.tokens if t.node == "w"]
    assert [(t.branch_index, t.path) for t in made] == [(i, f"root.w.{i}") for i in range(3)]


def one_creation_event_each(seen: Outcome) -> None:
    assert [e["total"] for e in seen.events if e["type"] == "fan_out.started"] == [3]


CASES = [
    Case(
        "F01 spawn_count 3: indices 0, 1, 2, total 3, paths under the parent",
        workflow(
            {"s": {}, "w": mock(output_mapping={"state.i": "_branch.index", "state.t": "_branch.total"}), "end": {}},
            to("s", "w", spawn_count=3, sibling_group="g"),
            join("w", "end", merge=OUT),
            output={"out": "state.out"},
        ),
        output={"out": [{"i": 0, "t": 3}, {"i": 1, "t": 3}, {"i": 2, "t": 3}]},
        also=spawned,
    ),
    Case(
        "F01 spawn_count may be an expression",
        workflow(
            {"s": {}, "w": mock({"k": 1}), "end": {}},
            to("s", "w", spawn_count="input.n"),
            join("w", "end", merge=OUT),
            output={"n": "size(state.out)"},
        ),
        {"n": 4},
        output={"n": 4},
    ),
    Case(
        "F02 foreach over three items: each branch has its own item and index",
        EACH,
        {"items": [5, 3, 9]},
        output={"out": [{"x": 5, "i": 0, "t": 3}, {"x": 3, "i": 1, "t": 3}, {"x": 9, "i": 2, "t": 3}]},
        also=one_creation_event_each,
    ),
    Case("F04 foreach over one item still joins", EACH, {"items": [5]}, output={"out": [{"x": 5, "i": 0, "t": 1}]}),
    Case(
        "foreach over an empty list opens its join at once, with an empty merge",
        EACH,
        {"items": []},
        output={"out": []},
    ),
    Case(
        "an empty list and no join: the path ends",
        workflow({"s": {}, "w": mock()}, each("s", "w", "input.items")),
        {"items": []},
        output={},
    ),
    Case(
        "foreach over something that is not a list fails the node",
        EACH,
        {"items": 5},
        status="failed",
        error="not_a_list",
    ),
    Case(
        "F06 transitions sharing one group share one numbering, and the join waits for all",
        workflow(
            {"s": {}, "a": mock({"n": "a"}, 30), "b": mock({"n": "b"}), "c": mock({"n": "c"}, 10), "end": {}},
            *[to("s", n, sibling_group="g") for n in "abc"],
            *[join(n, "end", merge=OUT, sibling_group="g") for n in "abc"],
            output={"out": "state.out"},
        ),
        output={"out": [{"n": "a"}, {"n": "b"}, {"n": "c"}]},
    ),
    Case(
        "F08 a branch does not change the shared state before the join",
        workflow(
            {
                "s": {"output_mapping": {"state.x": "'mine'"}},
                "w": sets({"state.x": "result.x"}, x="'theirs'"),
                "look": sets({"state.seen": "result.seen"}, seen="'?'"),
                "end": {},
            },
            each("s", "w", "[1, 2]"),
            to("w", "look"),
            join("look", "end"),
            output={"x": "state.x"},
        ),
        output={"x": "mine"},
    ),
    Case(
        "F09 two branches writing one path neither see nor overwrite each other",
        workflow(
            {
                "s": {},
                "w": mock(output_mapping={"state.x": "item"}),
                "v": {"output_mapping": {"state.y": "_branch.output.x"}},
                "end": {},
            },
            each("s", "w", "[1, 2]"),
            to("w", "v"),
            join("v", "end", merge=OUT),
            output={"out": "state.out"},
        ),
        output={"out": [{"x": 1, "y": 1}, {"x": 2, "y": 2}]},
    ),
    Case(
        "inner item variables shadow outer ones, and _branch.outer is the enclosing slot",
        workflow(
            {
                "s": {},
                "o": {},
                "w": mock(output_mapping={"state.v": "item", "state.o": "_branch.outer.item"}),
                "m": {},
                "end": {},
            },
            each("s", "o", "[10, 20]", group="o"),
            each("o", "w", "[1, 2]", group="i"),
            join("w", "m", merge={"target": "state.in", "strategy": "collect"}, sibling_group="i"),
            join(
                "m",
                "end",
                merge={"target": "state.out", "strategy": "collect", "source": "_branch.output.in"},
                sibling_group="o",
            ),
            output={"out": "state.out"},
        ),
        output={"out": [[{"v": 1, "o": 10}, {"v": 2, "o": 10}], [{"v": 1, "o": 20}, {"v": 2, "o": 20}]]},
    ),
    Case(
        "max_parallel bounds how many slots are in flight, and all of them run",
        workflow(
            {"s": {}, "w": mock(delay_ms=5, **ABOUT), "end": {}},
            each("s", "w", "input.items", max_parallel=2),
            join("w", "end", merge={**OUT, "source": "_branch.output.x"}),
            output={"out": "state.out"},
        ),
        {"items": [1, 2, 3, 4, 5]},
        output={"out": [1, 2, 3, 4, 5]},
    ),
    Case(
        "one plain match beside a named group makes no slot",
        workflow(
            {"s": {}, "w": mock(), "p": {"output_mapping": {"output.inside": "_branch.index"}}},
            to("s", "w", sibling_group="g"),
            to("s", "p"),
        ),
        output={"inside": None},
    ),
]

ROWS = [pytest.param(case, id=case.id) for case in CASES]
