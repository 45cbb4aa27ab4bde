"""Rows for token-graphs.md#fan-out and for expressions.md#scopes inside a branch."""

from __future__ import annotations

from tests.simulation.oracle.script import WORK, each, flow, go, into, join, late_answers, no, null, ok, row, then

SEE = {**WORK, "input_mapping": {"b": "_branch"}}
TWO = {"items": [7, 8]}


def seen(index: int, total: int, item: object = None, node: str = "p", outer: object = None) -> dict[str, object]:
    view: dict[str, object] = {
        "index": index,
        "total": total,
        "item": item,
        "fan_out_node_id": node,
        "output": {},
        "outer": outer,
    }
    return {"b": view}


MERGED = into("state.all")
ALL = {"strategy": "all", "merge": MERGED}

FAN_OUT = [
    row(
        "foreach makes one slot per item, with index, total and item in _branch",
        flow({"p": {}, "a": SEE}, each("p", "a")),
        then(calls="a@root.a.0 a@root.a.1", inputs=[seen(0, 2, 7), seen(1, 2, 8)], parents=[None, 0, 0]),
        input=TWO,
    ),
    row(
        "foreach makes a slot even for one item",
        flow({"p": {}, "a": SEE}, each("p", "a")),
        then(calls="a@root.a.0", inputs=[seen(0, 1, 7)]),
        input={"items": [7]},
    ),
    row(
        "spawn_count may be an expression",
        flow({"p": {}, "a": SEE}, go("p", "a", spawn_count="input.n + 1")),
        then(inputs=[seen(0, 2), seen(1, 2)]),
        input={"n": 1},
    ),
    row("spawn_count 1 makes a slot", flow({"p": {}, "a": SEE}, go("p", "a", spawn_count=1)), then(calls="a@root.a.0")),
    row(
        "one plain match makes no slot, and there is no _branch",
        flow({"p": {}, "a": SEE}, go("p", "a")),
        then(calls="a@root", inputs=[{"b": None}]),
    ),
    row(
        "one plain match with an explicit group makes a slot",
        flow({"p": {}, "a": SEE}, go("p", "a", sibling_group="g")),
        then(calls="a@root.a.0", inputs=[seen(0, 1)]),
    ),
    row(
        "indices run in transition order, then item order, over one numbering",
        flow({"p": {}, "a": SEE, "b": SEE}, go("p", "b", sibling_group="g"), each("p", "a", sibling_group="g")),
        then(calls="b@root.b.0 a@root.a.1 a@root.a.2", inputs=[seen(0, 3), seen(1, 3, 7), seen(2, 3, 8)]),
        input=TWO,
    ),
    row(
        "each group name of a tier is its own group with its own total",
        flow({"p": {}, "a": SEE, "b": SEE}, each("p", "a", sibling_group="g"), each("p", "b", sibling_group="h")),
        then(calls="a@root.a.0 a@root.a.1 b@root.b.0 b@root.b.1", inputs=[seen(0, 2, 7), seen(1, 2, 8)] * 2),
        input=TWO,
    ),
    row(
        "one plain match beside an unnamed foreach shares its group",
        flow({"p": {}, "a": SEE, "b": SEE}, each("p", "a"), go("p", "b")),
        then(calls="a@root.a.0 a@root.a.1 b@root.b.2", inputs=[seen(0, 3, 7), seen(1, 3, 8), seen(2, 3)]),
        input=TWO,
    ),
    row(
        "one plain match beside named groups only makes no slot",
        flow({"p": {}, "a": SEE, "b": SEE}, each("p", "a", sibling_group="g"), go("p", "b")),
        then(calls="a@root.a.0 a@root.a.1 b@root", inputs=[seen(0, 2, 7), seen(1, 2, 8), {"b": None}]),
        input=TWO,
    ),
    row(
        "slots nest, and outer is the enclosing _branch",
        flow({"p": {}, "q": {}, "a": SEE}, each("p", "q"), go("q", "a", spawn_count=1)),
        then(calls="a@root.q.0.a.0", inputs=[seen(0, 1, None, "q", seen(0, 1, 7)["b"])]),
        input={"items": [7]},
    ),
    row(
        "the item variables of all enclosing branches are there, inner shadows outer",
        flow(
            {"p": {}, "q": {}, "r": {}, "a": {**WORK, "input_mapping": {"x": "x", "y": "y"}}},
            each("p", "q", "[[1]]", item_var="x"),
            each("q", "r", "x", item_var="y"),
            each("r", "a", "[y + 1]", item_var="x"),
        ),
        then(inputs=[{"x": 2, "y": 1}], calls="a@root.q.0.r.0.a.0"),
    ),
    row(
        "in a branch state.x and output.x land in the branch, and reads of state stay those of the run",
        flow(
            {
                "p": {"output_mapping": {"state.x": "1"}},
                "a": {"output_mapping": {"state.x": "2", "output.y": "3", "_branch.output.z": "4"}},
                "b": {**WORK, "input_mapping": {"state": "state.x", "branch": "_branch.output", "out": "output"}},
            },
            go("p", "a", spawn_count=1),
            go("a", "b"),
        ),
        then(inputs=[{"state": 1, "branch": {"x": 2, "y": 3, "z": 4}, "out": {}}], state={"x": 1}),
    ),
    row(
        "no branch sees another",
        flow(
            {"p": {}, "a": WORK, "b": {**WORK, "input_mapping": {"o": "_branch.output"}}}, each("p", "a"), go("a", "b")
        ),
        ok("root.a.0", {"x": 0}),
        ok("root.a.1", {"y": 1}),
        then(inputs=[{"o": {"x": 0}}, {"o": {"y": 1}}]),
        input=TWO,
    ),
    row(
        "in a branch results are merged into its output by default, those of nodes without a target are not",
        flow(
            {"p": {}, "a": WORK, "b": {}, "c": WORK, "z": {}},
            go("p", "a", spawn_count=1),
            go("a", "b"),
            go("b", "c"),
            join("c", "z", merge=MERGED),
        ),
        ok("a", {"x": 1, "y": 1}),
        ok("c", {"y": 2}),
        then(state={"all": [{"x": 1, "y": 2}]}),
        input={"n": 9},
    ),
    row(
        "a result that is not an object lands at _branch.output.result",
        flow({"p": {}, "a": WORK, "z": {}}, each("p", "a"), join("a", "z", merge=MERGED)),
        ok("root.a.0", [1]),
        null("root.a.1"),
        then(state={"all": [{"result": [1]}, {"result": None}]}),
        input=TWO,
    ),
    row(
        "what a branch leaves and nobody joins is discarded",
        flow({"p": {}, "a": {"output_mapping": {"state.x": "1"}}}, each("p", "a")),
        then(status="completed", state={}, out={}),
        input=TWO,
    ),
    row(
        "an empty foreach opens its join with an empty merge, whatever its strategy",
        flow(
            {"p": {}, "a": WORK, "b": {}, "z": WORK},
            each("p", "a"),
            go("a", "b"),
            join("b", "z", strategy={"m_of_n": 2}, merge=MERGED),
        ),
        then(calls="z@root", state={"all": []}, parents=[None, 0]),
        input={"items": []},
    ),
    row(
        "an empty foreach under any opens, too",
        flow({"p": {}, "a": WORK, "z": {}}, each("p", "a"), join("a", "z", strategy="any")),
        then(status="completed", tokens="p@root completed, z@root completed"),
        input={"items": []},
    ),
    row(
        "spawn_count 0 is an empty group",
        flow({"p": {}, "a": WORK, "z": {}}, go("p", "a", spawn_count=0), join("a", "z", merge=MERGED)),
        then(status="completed", state={"all": []}),
    ),
    row(
        "an empty foreach that no join follows ends the path",
        flow({"p": {}, "a": WORK, "z": {}}, each("p", "a"), go("a", "z")),
        then(status="completed", tokens="p@root completed"),
        input={"items": []},
    ),
    row(
        "an inner empty fan-out followed only by an outer join ends that path",
        flow(
            {"p": {}, "q": {}, "a": WORK, "z": {}},
            each("p", "q", sibling_group="g"),
            each("q", "a", "item"),
            join("a", "z", sibling_group="g", merge=MERGED),
        ),
        ok("root.q.1.a.0", {"x": 1}),
        then(status="completed", state={"all": [{"x": 1}]}),
        input={"items": [[], [1]]},
    ),
    row(
        "an empty foreach beside a plain match of its group is not an empty group",
        flow({"p": {}, "a": WORK, "b": SEE, "z": {}}, each("p", "a"), go("p", "b"), join("b", "z"), join("a", "z")),
        then(calls="b@root.b.0", inputs=[seen(0, 1)]),
        input={"items": []},
    ),
    row(
        "max_parallel bounds the slots in flight, and the rest are no tokens yet",
        flow(
            {"p": {}, "a": SEE, "z": WORK},
            each("p", "a", max_parallel=2),
            join("a", "z", merge=into("state.all", source="_branch.output.x")),
        ),
        then(calls="a@root.a.0 a@root.a.1", inputs=[seen(0, 4, 1), seen(1, 4, 2)], parents=[None, 0, 0]),
        ok("root.a.1", {"x": 1}),
        then(calls="a@root.a.0 a@root.a.2"),
        ok("root.a.0", {"x": 0}),
        ok("root.a.3", {"x": 3}),
        ok("root.a.2", {"x": 2}),
        then(calls="z@root", state={"all": [0, 1, 2, 3]}),
        input={"items": [1, 2, 3, 4]},
    ),
    row(
        "max_parallel may come from data",
        flow({"p": {}, "a": WORK}, each("p", "a", max_parallel="size(input.items) - 1")),
        then(calls="a@root.a.0"),
        input=TWO,
    ),
    row(
        "a max_parallel that is no count fails the node that fans out",
        flow({"p": {}, "a": WORK}, each("p", "a", max_parallel="size(input.items) - 2")),
        then(status="failed", error="not_a_count", tokens="p@root failed"),
        input=TWO,
    ),
    row(
        "slots that had no turn when the fan-in opens never become tokens",
        flow({"p": {}, "a": WORK, "z": WORK}, each("p", "a", max_parallel=1), join("a", "z", strategy="any")),
        ok("a"),
        then(tokens="p@root completed, a@root.a.0 completed, z@root.a.0 completed, z@root dispatched"),
        input={"items": [1, 2, 3]},
    ),
    row(
        "slots still to come can still make the quorum",
        flow(
            {"p": {}, "a": WORK, "z": WORK},
            each("p", "a", max_parallel=1),
            join("a", "z", strategy={"m_of_n": 1}, on_branch_failure="continue"),
        ),
        no("a"),
        no("a"),
        ok("a"),
        then(calls="z@root"),
        input={"items": [1, 2, 3]},
    ),
    row(
        "a loop that fans out again makes a new group instance",
        flow(
            {"p": {}, "a": WORK, "z": WORK, "y": {}},
            each("p", "a"),
            join("a", "z", merge=MERGED),
            go("z", "p", loop_config={"max_iterations": 1}),
            go("z", "y", priority=2),
        ),
        ok("root.a.1", {"x": 1}),
        ok("root.a.0", {"x": 0}),
        ok("z"),
        ok("root.a.0", {"x": 2}),
        late_answers(),
        then(calls="a@root.a.1", state={"all": [{"x": 0}, {"x": 1}]}),
        ok("root.a.1", {"x": 3}),
        ok("z"),
        then(status="completed", state={"all": [{"x": 2}, {"x": 3}]}),
        input=TWO,
    ),
    row(
        "two outer branches with the same inner fan-out never mix",
        flow(
            {"p": {}, "q": {}, "a": WORK, "y": WORK, "z": {}},
            each("p", "q", sibling_group="outer"),
            go("q", "a", spawn_count=2, sibling_group="inner"),
            join("a", "y", sibling_group="inner", merge=into("state.in", source="_branch.output.x")),
            join("y", "z", sibling_group="outer", merge=MERGED),
        ),
        ok("root.q.0.a.0", {"x": 0}),
        ok("root.q.1.a.0", {"x": 10}),
        ok("root.q.1.a.1", {"x": 11}),
        then(calls="a@root.q.0.a.1 y@root.q.1"),
        ok("root.q.0.a.1", {"x": 1}),
        ok("root.q.0"),
        ok("root.q.1", {"y": 1}),
        then(status="completed", state={"all": [{"in": [0, 1]}, {"in": [10, 11], "y": 1}]}),
        input=TWO,
    ),
]
