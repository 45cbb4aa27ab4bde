"""What a failed node does to its token."""

import pytest

from jeton.model import decision as d
from jeton.model.failure import RunError, TaskFailed
from jeton.model.ids import GroupId, SlotId, TokenId
from jeton.model.json import JsonObject
from jeton.model.state.run import Segment
from jeton.planning.tokens.failure import continuing_slot, last_error, plan_failure
from tests.planning.given import BOOM, Given, done, failed, flow, given, slot, started, workflow

NOW = 9
ERROR: JsonObject = {"node": "a", "step": "s", "type": "boom", "message": "it broke", "attempts": 1}
RUN_ERROR = RunError("boom", "it broke", "a", 0, "s", 1)
FAIL = d.FailNode(TokenId(0), "a", ERROR)

PLAIN = workflow("{nodes: {a: {task: work}, b: {}}, transitions: [{from: a, to: b}]}")
HANDLED = workflow("""
nodes: {a: {task: work}, b: {task: work}, c: {task: work}}
transitions:
- {from: a, to: c}
- {from: a, to: b, condition: "state._last_error.type == 'boom'", priority: 2}
""")
BAD_CONDITION = workflow("""
nodes: {a: {task: work}, b: {}}
transitions: [{from: a, to: b, condition: has(state._last_error) && input.n + 1 == 2}]
""")
BAD_FAN_OUT = workflow("""
nodes: {a: {task: work}, b: {}}
transitions: [{from: a, to: b, condition: has(state._last_error), foreach: {collection: input.gone}}]
""")
EACH_HANDLED = workflow("""
nodes: {a: {task: work}, b: {task: work}, c: {task: work}}
transitions:
- {from: a, to: b, condition: has(state._last_error)}
- {from: a, to: c, condition: has(state._last_error)}
""")
FLOW = flow("{nodes: {a: {type: work}, b: {type: merge}}, connections: [{from: a, to: b}]}")
LATE = TaskFailed("timed_out", "it broke", "s")
FIRST_HANDLER = workflow("""
nodes: {a: {task: work, fan_out: first_match}, b: {task: work}, c: {task: work}}
transitions:
- {from: a, to: b, condition: has(state._last_error)}
- {from: a, to: c, condition: has(state._last_error)}
""")
MATCHED = (d.Considered(1, "matched"),)


@pytest.mark.parametrize(
    ("run", "failure", "then"),
    [
        pytest.param(
            given(PLAIN, started()),
            BOOM,
            [FAIL, d.RouteToken(TokenId(0), "a", "failed"), d.EndRun(NOW, "failed", error=RUN_ERROR)],
            id="an unconditional transition swallows no failure: the run fails",
        ),
        pytest.param(
            given(HANDLED, started()),
            BOOM,
            [
                FAIL,
                d.RouteToken(TokenId(0), "a", "failed", MATCHED),
                d.CreateToken(TokenId(1), "b", "root", TokenId(0), error=ERROR),
            ],
            id="a transition that speaks of it handles it, and the token goes on with the error",
        ),
        pytest.param(
            given(HANDLED, started()),
            TaskFailed("bang", "it broke", "s"),
            [
                d.FailNode(TokenId(0), "a", {**ERROR, "type": "bang"}),
                d.RouteToken(TokenId(0), "a", "failed"),
                d.EndRun(NOW, "failed", error=RunError("bang", "it broke", "a", 0, "s", 1)),
            ],
            id="one that speaks of another failure does not",
        ),
        pytest.param(
            given(PLAIN, started()),
            TaskFailed("timed_out", "late", stack="at line 1"),
            [
                d.FailNode(
                    TokenId(0),
                    "a",
                    {"node": "a", "step": None, "type": "timed_out", "message": "late", "attempts": 1},
                ),
                d.RouteToken(TokenId(0), "a", "timed_out"),
                d.EndRun(
                    NOW,
                    "failed",
                    error=RunError("timed_out", "late", "a", 0, attempts=1, details={"stack": "at line 1"}),
                ),
            ],
            id="after a timeout the token ends timed out; a stack is kept with the run's error",
        ),
        pytest.param(
            given(BAD_FAN_OUT, started()),
            LATE,
            [
                d.FailNode(TokenId(0), "a", {**ERROR, "type": "timed_out"}),
                d.RouteToken(TokenId(0), "a", "timed_out"),
                d.EndRun(
                    NOW,
                    "failed",
                    error=RunError(
                        "not_a_list",
                        "foreach needs a list, and 'input.gone' gives none: nothing is at input.gone",
                        "a",
                        0,
                    ),
                ),
            ],
            id="a handler that cannot fan out fails the run: nobody handles a failure twice",
        ),
        pytest.param(
            given(EACH_HANDLED, started()),
            BOOM,
            [
                FAIL,
                d.RouteToken(TokenId(0), "a", "failed", (d.Considered(0, "matched"), *MATCHED)),
                d.OpenGroup(
                    GroupId(0),
                    "a",
                    "a",
                    TokenId(0),
                    "root",
                    2,
                    (Segment(0, 0, 1), Segment(1, 1, 1)),
                    error=ERROR,
                ),
                d.CreateToken(TokenId(1), "b", "root.b.0", TokenId(0), slot(0, 0), error=ERROR),
                d.CreateToken(TokenId(2), "c", "root.c.1", TokenId(0), slot(0, 1), error=ERROR),
            ],
            id="a failure can fan out into its handlers, and each branch has it",
        ),
        pytest.param(
            given(FIRST_HANDLER, started()),
            BOOM,
            [
                FAIL,
                d.RouteToken(TokenId(0), "a", "failed", (d.Considered(0, "matched"), d.Considered(1, "not_first"))),
                d.CreateToken(TokenId(1), "b", "root", TokenId(0), error=ERROR),
            ],
            id="or be handled by the first of them, if the node says so",
        ),
        pytest.param(
            given(FLOW, started()),
            BOOM,
            [
                d.BreakNode(TokenId(0), "a", BOOM),
                d.RouteToken(TokenId(0), "a", "failed"),
                d.SettleNodes(skipped=("b",)),
            ],
            id="in a flow what depends on the node is skipped",
        ),
    ],
)
def test_a_failure(run: Given, failure: TaskFailed, then: list[d.Decision]) -> None:
    state = run.state()
    assert plan_failure(run.program, state, state.tokens[TokenId(0)], failure, NOW) == then


def test_a_handlers_condition_that_cannot_be_evaluated_fails_the_run() -> None:
    state = given(BAD_CONDITION, started({"n": "x"})).state()
    *first, end = plan_failure(BAD_CONDITION, state, state.tokens[TokenId(0)], LATE, NOW)
    assert first == [
        d.FailNode(TokenId(0), "a", {**ERROR, "type": "timed_out"}),
        d.RouteToken(TokenId(0), "a", "timed_out"),
    ]
    assert isinstance(end, d.EndRun)
    assert end.error is not None
    assert (end.status, end.error.type) == ("failed", "expression_error")


def nested(inner: str, outer: str) -> str:
    """Two branches, two branches in each, and what their joins do when one fails."""
    return f"""
nodes: {{s: {{}}, o: {{}}, w: {{task: work}}, m: {{task: work}}, end: {{}}}}
transitions:
- {{from: s, to: o, spawn_count: 2, sibling_group: out}}
- {{from: o, to: w, spawn_count: 2, sibling_group: in}}
- {{from: w, to: m, synchronization: {{sibling_group: in, on_branch_failure: {inner}}}}}
- {{from: m, to: end, synchronization: {{sibling_group: out, on_branch_failure: {outer}}}}}
"""


INNER_GOES_ON = workflow(nested("continue", "continue"))
OUTER_GOES_ON = workflow(nested("fail", "continue"))
NONE_GOES_ON = workflow(nested("fail", "fail"))
BROKEN: JsonObject = {"node": "w", "step": "s", "type": "boom", "message": "it broke", "attempts": 1}


@pytest.mark.parametrize(
    ("run", "then"),
    [
        pytest.param(
            given(INNER_GOES_ON, started()),
            [d.RouteToken(TokenId(3), "w", "failed"), d.SettleSlot(slot(1, 0), NOW)],
            id="the innermost branch is lost whose join goes on without it",
        ),
        pytest.param(
            given(OUTER_GOES_ON, started()),
            [
                d.RouteToken(TokenId(3), "w", "failed"),
                d.EndTokens(((4, 4),), "cancelled", "branch lost: 'w' failed"),
                d.SettleSlot(slot(0, 0), NOW),
            ],
            id="with an outer branch everything else in it is cancelled",
        ),
        pytest.param(
            given(OUTER_GOES_ON, started(), done(4)),
            [
                d.RouteToken(TokenId(3), "w", "failed"),
                d.EndTokens(((4, 4),), "cancelled", "branch lost: 'w' failed"),
                d.SettleSlot(slot(0, 0), NOW),
            ],
            id="also who waits there for the others",
        ),
        pytest.param(
            given(NONE_GOES_ON, started()),
            [
                d.RouteToken(TokenId(3), "w", "failed"),
                d.EndTokens(((4, 6),), "cancelled", "run failed: boom"),
                d.EndRun(NOW, "failed", error=RunError("boom", "it broke", "w", 3, "s", 1)),
            ],
            id="where no join goes on, the run fails",
        ),
    ],
)
def test_a_failure_in_a_branch(run: Given, then: list[d.Decision]) -> None:
    state = run.state()
    failed_node = d.FailNode(TokenId(3), "w", BROKEN)
    assert plan_failure(run.program, state, state.tokens[TokenId(3)], BOOM, NOW) == [failed_node, *then]


@pytest.mark.parametrize(
    ("run", "asked", "then"),
    [
        pytest.param(given(INNER_GOES_ON, started()), slot(1, 0), slot(1, 0), id="the branch itself"),
        pytest.param(given(OUTER_GOES_ON, started()), slot(1, 0), slot(0, 0), id="the next one around it"),
        pytest.param(given(NONE_GOES_ON, started()), slot(1, 0), None, id="none"),
        pytest.param(given(INNER_GOES_ON, started()), None, None, id="outside all branches there is none"),
    ],
)
def test_which_branch_may_be_lost(run: Given, asked: SlotId | None, then: SlotId | None) -> None:
    assert continuing_slot(run.program, run.state(), asked) == then


def test_the_last_error_counts_business_attempts() -> None:
    program = workflow("nodes: {a: {task: patient}}")
    asks = TaskFailed("boom", "it broke", "s", retry=True)
    state = given(program, started(), failed(0, asks)).state()
    assert last_error(state.tokens[TokenId(0)], BOOM) == {**ERROR, "attempts": 2}
