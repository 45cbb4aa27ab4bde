"""Workflows that call workflows: what goes in, what comes back, and who ends with whom."""

from collections.abc import Callable

import pytest

from jeton.model.message import CancelRun
from tests.conformance.case import Act, Case, Data, Outcome, cancels, each, join, mock, sets, to, workflow

ECHO = workflow({"e": {**sets(y="input.x"), "input_mapping": {"x": "input.x"}}}, output={"y": "output.y"})
FAILS = workflow({"bad": mock(fail="no luck")})
SLOW = workflow({"slow": mock(delay_ms=5000)})
WAITS_AND_CALLS = workflow({"down": {"workflow": "slow"}, "never": {}}, to("down", "never"))
PICKY = workflow(
    {"p": sets(y="1")},
    input_schema={"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}},
)
ITEM: Data = {"input_mapping": {"x": "item"}, "output_mapping": {"_branch.output.y": "result.y"}}
MERGE: Data = {"source": "_branch.output.y", "target": "state.ys", "strategy": "append"}
RESCUE = "has(state._last_error)"


def everybody_was_cancelled(seen: Outcome) -> None:
    assert [child.status for child in seen.children] == ["cancelled"] * len(seen.children)
    assert len(seen.children) == 2
    assert all(token.status == "cancelled" for token in seen.tokens if token.node == "call")


def the_child_reported(kind: str) -> Callable[[Outcome], None]:
    def check(seen: Outcome) -> None:
        assert [(child.status, child.error_type) for child in seen.children] == [("failed", kind)]

    return check


def they_share_a_root(seen: Outcome) -> None:
    assert [child.depth for child in seen.children] == [1, 2, 3]
    assert len({child.root for child in seen.children}) == 1
    assert seen.children[0].run.startswith(f"{seen.children[0].root}.")


def two_were_stopped(seen: Outcome) -> None:
    assert sorted(child.status for child in seen.children) == ["cancelled", "cancelled", "completed"]
    assert seen.decisions.count("stop_child") == 2


def no_child_began_below_the_limit(seen: Outcome) -> None:
    assert [child.depth for child in seen.children] == [1, 2]
    assert "max_depth" in seen.error_message


def the_timeout_stopped_the_child(seen: Outcome) -> None:
    assert [child.status for child in seen.children] == ["cancelled"]
    assert seen.count("call", "timed_out") == 1


def the_abandoned_child_ends_with_the_run(seen: Outcome) -> None:
    assert sorted(child.status for child in seen.children) == ["cancelled", "completed"]


def versions(seen: Outcome) -> None:
    assert [child.workflow for child in seen.children] == ["echo"]


def levels(deepest: int) -> Data:
    """A workflow that calls itself as long as it is told to."""
    nodes: Data = {"look": {}, "call": {"workflow": "again"}, "enough": {}}
    onward = (to("look", "call", "input.more", 1), to("look", "enough", None, 2))
    return {"again": workflow(nodes, *onward, limits={"max_depth": deepest})}


CASES = [
    Case(
        "S01 input is mapped to the child and its output is mapped back",
        workflow(
            {
                "call": {
                    "workflow": "echo",
                    "input_mapping": {"x": "input.a"},
                    "output_mapping": {"output.b": "result.y"},
                }
            }
        ),
        {"a": 7},
        output={"b": 7},
        others={"echo": ECHO},
        also=versions,
    ),
    Case(
        "S02 a child does not see its parent's state, nor its parent the child's",
        workflow(
            {
                "mark": {**sets({"state.mine": "result.m"}, m="1")},
                "call": {
                    "workflow": "peeks",
                    "output_mapping": {"output.seen": "result.seen", "state.got": "result.seen"},
                },
                "look": {"output_mapping": {"output.theirs": "has(state.theirs)", "output.mine": "state.mine"}},
            },
            to("mark", "call"),
            to("call", "look"),
        ),
        others={
            "peeks": workflow(
                {
                    "peek": {**sets({"state.theirs": "result.t"}, t="1")},
                    "say": {"output_mapping": {"output.seen": "has(state.mine)"}},
                },
                to("peek", "say"),
            )
        },
        output={"seen": False, "theirs": False, "mine": 1},
    ),
    Case(
        "S03 a child's failure fails the parent",
        workflow({"call": {"workflow": "fails"}, "after": {}}, to("call", "after")),
        others={"fails": FAILS},
        status="failed",
        error="mock_failure",
        also=the_child_reported("mock_failure"),
    ),
    Case(
        "S03 a failure that propagates can be handled like any other",
        workflow(
            {
                "call": {"workflow": "fails"},
                "rescue": {**sets(m="input.m"), "input_mapping": {"m": "state._last_error.type"}},
            },
            to("call", "rescue", RESCUE),
        ),
        others={"fails": FAILS},
        output={"m": "mock_failure"},
    ),
    Case(
        "S03 a node that catches goes on with the error as its result",
        workflow(
            {
                "call": {"workflow": "fails", "on_failure": "catch", "output_mapping": {"state.e": "result.error"}},
                "bad": sets(never="true"),
                "good": {"output_mapping": {"output.type": "state.e.type", "output.status": "state.e.status"}},
            },
            to("call", "good", "result.error.type == 'mock_failure'", 1),
            to("call", "bad", None, 2),
        ),
        others={"fails": FAILS},
        output={"type": "mock_failure", "status": "failed"},
    ),
    Case(
        "S04 cancelling a parent cancels its children and theirs",
        workflow({"call": {"workflow": "middle"}}),
        others={"middle": WAITS_AND_CALLS, "slow": SLOW},
        acts=(cancels("dispatch_token", node="slow"),),
        status="cancelled",
        error="cancelled",
        also=everybody_was_cancelled,
    ),
    Case(
        "S04 a parent that fails cancels its children",
        workflow(
            {"s": {}, "call": {"workflow": "middle"}, "trip": mock(fail="stumbled", delay_ms=60)},
            to("s", "call"),
            to("s", "trip"),
        ),
        others={"middle": WAITS_AND_CALLS, "slow": SLOW},
        status="failed",
        error="mock_failure",
        also=everybody_was_cancelled,
    ),
    Case(
        "S04 a run that times out cancels its children",
        workflow({"call": {"workflow": "middle"}}, timeout_ms=80),
        others={"middle": WAITS_AND_CALLS, "slow": SLOW},
        status="timed_out",
        error="timed_out",
        also=everybody_was_cancelled,
    ),
    Case(
        "a call that takes too long is timed out and its child cancelled",
        workflow(
            {
                "call": {"workflow": "slow", "timeout_ms": 40},
                "late": {**sets(m="input.m"), "input_mapping": {"m": "state._last_error.type"}},
            },
            to("call", "late", RESCUE),
        ),
        others={"slow": SLOW},
        output={"m": "timed_out"},
        also=the_timeout_stopped_the_child,
    ),
    Case(
        "a call that takes too long fails the run if nobody handles it",
        workflow({"call": {"workflow": "slow", "timeout_ms": 40}}),
        others={"slow": SLOW},
        status="failed",
        error="timed_out",
        also=the_timeout_stopped_the_child,
    ),
    Case(
        "S07 the outputs of children in a fan-out are merged in index order",
        workflow(
            {"s": {}, "call": {"workflow": "paced", **ITEM}, "t": {"output_mapping": {"output.ys": "state.ys"}}},
            each("s", "call", "input.items"),
            join("call", "t", merge=MERGE),
        ),
        {"items": [3, 1, 2]},
        others={
            "paced": workflow(
                {
                    "rest": {"wait": {"seconds": "double(input.x) / 100.0"}},
                    "say": {"output_mapping": {"output.y": "input.x"}},
                },
                to("rest", "say"),
            )
        },
        output={"ys": [3, 1, 2]},
    ),
    Case(
        "children that a fan-in did not wait for are cancelled",
        workflow(
            {"s": {}, "call": {"workflow": "paced", **ITEM}, "t": {"output_mapping": {"output.ys": "state.ys"}}},
            each("s", "call", "input.items"),
            join("call", "t", "any", merge=MERGE),
        ),
        {"items": [9, 0, 8]},
        others={
            "paced": workflow(
                {"rest": {"wait": {"seconds": "input.x"}}, "say": {"output_mapping": {"output.y": "input.x"}}},
                to("rest", "say"),
            )
        },
        output={"ys": [0]},
        also=two_were_stopped,
    ),
    Case(
        "an abandoned child may go on, and is cancelled with the run",
        workflow(
            {"s": {}, "call": {"workflow": "paced", **ITEM}, "t": {"output_mapping": {"output.ys": "state.ys"}}},
            each("s", "call", "input.items"),
            join("call", "t", "any", merge=MERGE, on_early_complete="abandon"),
        ),
        {"items": [9, 0]},
        others={
            "paced": workflow(
                {"rest": {"wait": {"seconds": "input.x"}}, "say": {"output_mapping": {"output.y": "input.x"}}},
                to("rest", "say"),
            )
        },
        output={"ys": [0]},
        also=the_abandoned_child_ends_with_the_run,
    ),
    Case(
        "a branch whose child fails is lost if its join goes on without it",
        workflow(
            {"s": {}, "call": {"workflow": "odd", **ITEM}, "t": {"output_mapping": {"output.ys": "state.ys"}}},
            each("s", "call", "input.items"),
            join("call", "t", merge=MERGE, on_branch_failure="continue"),
        ),
        {"items": [1, 2, 3]},
        others={
            "odd": workflow(
                {"look": {"output_mapping": {"output.y": "input.x"}}, "two": mock(fail="two"), "ok": {}},
                to("look", "two", "input.x == 2", 1),
                to("look", "ok", None, 2),
            )
        },
        output={"ys": [1, 3]},
    ),
    Case(
        "S08 three levels down the value comes back to the top, and all share the root",
        workflow(
            {"call": {"workflow": "one", "input_mapping": {"x": "input.x"}, "output_mapping": {"output.y": "result.y"}}}
        ),
        {"x": 5},
        others={
            "one": workflow({"call1": {"workflow": "two", "output_mapping": {"output.y": "result.y"}}}),
            "two": workflow({"call2": {"workflow": "echo", "output_mapping": {"output.y": "result.y"}}}),
            "echo": ECHO,
        },
        output={"y": 5},
        also=they_share_a_root,
    ),
    Case(
        "S10 input that does not fit its schema fails the child, which tells the parent",
        workflow({"call": {"workflow": "picky", "input_mapping": {"n": "input.n"}}}),
        {"n": "seven"},
        others={"picky": PICKY},
        status="failed",
        error="input_invalid",
        also=the_child_reported("input_invalid"),
    ),
    Case(
        "S10 input that does not fit can be caught",
        workflow(
            {
                "call": {
                    "workflow": "picky",
                    "on_failure": "catch",
                    "input_mapping": {"n": "input.n"},
                    "output_mapping": {"output.why": "result.error.type"},
                }
            }
        ),
        {"n": "seven"},
        others={"picky": PICKY},
        output={"why": "input_invalid"},
    ),
    Case(
        "a workflow that calls itself ends at the limit of depth",
        workflow({"call0": {"workflow": "again"}}, limits={"max_depth": 2}),
        {"more": True},
        others=levels(2),
        status="failed",
        error="limit_exceeded",
        also=no_child_began_below_the_limit,
    ),
    Case(
        "a child cancelled by somebody else fails its parent's node",
        workflow({"call": {"workflow": "slow"}}),
        others={"slow": SLOW},
        acts=(Act("dispatch_token", lambda _: CancelRun(0, "not that one"), "slow"),),
        status="failed",
        error="cancelled",
    ),
]
ROWS = [pytest.param(case, id=case.id) for case in CASES]
