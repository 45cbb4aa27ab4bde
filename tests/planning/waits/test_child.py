"""Calling another workflow, and what its end means for the token that waits."""

import pytest
from msgspec import UNSET, UnsetType

from jeton.model import decision as d
from jeton.model.failure import RunError
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.message import ChildEnded, StartRun
from jeton.model.state.run import Parent, RunStatus
from jeton.planning.tokens.node import NodeFinished, Plan
from jeton.planning.waits.child import caught_error, plan_call, plan_child_ended
from tests.planning.given import Given, at, flow, given, started, token_at, workflow

NOW = 9
ZERO, ONE = TokenId(0), TokenId(1)
CHILD = RunId("r.0")

PLAIN = workflow("nodes: {a: {workflow: child}}")
TIMED = workflow("nodes: {a: {workflow: child, timeout_ms: 30, inherit_artifacts: true}}")
CATCHES = workflow("nodes: {a: {workflow: child, on_failure: catch}}")
HANDLED = workflow("""
nodes: {a: {workflow: child}, b: {task: work}}
transitions: [{from: a, to: b, condition: has(state._last_error)}]
""")
SHALLOW = workflow("{nodes: {a: {workflow: child}}, limits: {max_depth: 2}}")
RACE = workflow("""
nodes: {s: {}, a: {workflow: child}, end: {task: work}}
transitions:
- {from: s, to: a, spawn_count: 2}
- {from: a, to: end, synchronization: {strategy: any, on_early_complete: abandon}}
""")
FLOW = flow("nodes: {a: {type: workflow, data: {workflow: child}}}")


def start_at_depth(depth: int) -> StartRun:
    return StartRun(0, {}, parent=Parent(RunId("p"), ZERO, RunId("p"), depth))


@pytest.mark.parametrize(
    ("run", "given_input", "then"),
    [
        pytest.param(
            at("a", PLAIN, started()),
            {"x": 1},
            [d.CallWorkflow(ZERO, "a", NOW, CHILD, "child", {"x": 1}, missing=("input.y",))],
            id="the child is named by the token that waits for it",
        ),
        pytest.param(
            at("a", PLAIN, started()),
            UNSET,
            [d.CallWorkflow(ZERO, "a", NOW, CHILD, "child", missing=("input.y",))],
            id="without a mapping it has the input of the run that calls it",
        ),
        pytest.param(
            at("a", TIMED, started()),
            {},
            [d.CallWorkflow(ZERO, "a", NOW, CHILD, "child", {}, NOW + 30, True, ("input.y",))],
            id="its time begins with the call",
        ),
        pytest.param(
            at("a", SHALLOW, start_at_depth(1)),
            {},
            [d.CallWorkflow(ZERO, "a", NOW, CHILD, "child", {}, missing=("input.y",))],
            id="as deep as the limit allows",
        ),
        pytest.param(
            at("a", SHALLOW, start_at_depth(2)),
            {},
            [
                d.RouteToken(ZERO, "a", "failed"),
                d.EndRun(
                    NOW,
                    "failed",
                    error=RunError(
                        "limit_exceeded", "max_depth: 'child' would be called 3 levels below the root", "a", 0
                    ),
                ),
            ],
            id="one level deeper fails the run",
        ),
    ],
)
def test_a_call(run: Given, given_input: Json | UnsetType, then: list[d.Decision]) -> None:
    state = run.state()
    assert plan_call(run.program, state, token_at(state, "a"), given_input, ("input.y",), NOW) == then


def ended(status: RunStatus, output: Json = None, error: RunError | None = None, token: TokenId = ZERO) -> ChildEnded:
    return ChildEnded(NOW, token, RunId(f"r.{token}"), status, output, error)


BOOM = RunError("boom", "it broke", "x")
FAILED = d.EndChild(ZERO, CHILD, "failed", BOOM)
TOLD = "workflow 'child' failed as run r.0: it broke"
ERROR: JsonObject = {"node": "a", "step": None, "type": "boom", "message": TOLD, "attempts": 1}
STOPPED = "workflow 'child' timed out as run r.0"


@pytest.mark.parametrize(
    ("run", "message", "then"),
    [
        pytest.param(
            given(PLAIN, started()),
            ended("completed", {"x": 1}),
            Plan(
                [d.EndChild(ZERO, CHILD, "completed"), d.FinishNode(ZERO, "a")],
                NodeFinished(ZERO, {"x": 1}),
            ),
            id="its output is the node's result",
        ),
        pytest.param(
            given(PLAIN, started()),
            ended("failed", error=BOOM),
            Plan(
                [
                    FAILED,
                    d.FailNode(ZERO, "a", ERROR),
                    d.RouteToken(ZERO, "a", "failed"),
                    d.EndRun(NOW, "failed", error=RunError("boom", TOLD, "a", 0, attempts=1)),
                ]
            ),
            id="its failure is the node's",
        ),
        pytest.param(
            given(PLAIN, started()),
            ended("timed_out"),
            Plan(
                [
                    d.EndChild(ZERO, CHILD, "timed_out"),
                    d.FailNode(ZERO, "a", {**ERROR, "type": "timed_out", "message": STOPPED}),
                    d.RouteToken(ZERO, "a", "timed_out"),
                    d.EndRun(NOW, "failed", error=RunError("timed_out", STOPPED, "a", 0, attempts=1)),
                ]
            ),
            id="an end without an error is named by its status",
        ),
        pytest.param(
            given(HANDLED, started()),
            ended("failed", error=BOOM),
            Plan(
                [
                    FAILED,
                    d.FailNode(ZERO, "a", ERROR),
                    d.RouteToken(ZERO, "a", "failed", (d.Considered(0, "matched"),)),
                    d.CreateToken(ONE, "b", "root", ZERO, error=ERROR),
                ]
            ),
            id="which can be handled as any other",
        ),
        pytest.param(
            given(CATCHES, started()),
            ended("failed", error=BOOM),
            Plan(
                [FAILED, d.FinishNode(ZERO, "a")],
                NodeFinished(
                    ZERO,
                    {
                        "error": {
                            "type": "boom",
                            "message": "it broke",
                            "node": "x",
                            "status": "failed",
                            "run_id": "r.0",
                        }
                    },
                ),
            ),
            id="or caught, and is the result then",
        ),
        pytest.param(
            given(PLAIN, started()),
            ChildEnded(NOW, ZERO, RunId("other"), "completed"),
            Plan([d.IgnoreLate(ZERO, 1, "nobody waits for run other any more")]),
            id="another run's end is ignored",
        ),
        pytest.param(
            given(PLAIN, started()),
            ended("completed", token=TokenId(7)),
            Plan([d.IgnoreLate(TokenId(7), 1, "nobody waits for run r.7 any more")]),
            id="so is one that comes when the token has ended",
        ),
        pytest.param(
            given(HANDLED, started(), ended("failed", error=BOOM)),
            ended("completed", token=ONE),
            Plan([d.IgnoreLate(ONE, 1, "nobody waits for run r.1 any more")]),
            id="or called nobody",
        ),
        pytest.param(
            given(RACE, started(), ended("completed", token=ONE)),
            ended("completed", {"x": 1}, token=TokenId(2)),
            Plan(
                [
                    d.EndChild(TokenId(2), RunId("r.2"), "completed"),
                    d.IgnoreLate(TokenId(2), 1, "the branch was abandoned"),
                    d.RouteToken(TokenId(2), "a", "completed"),
                ]
            ),
            id="what an abandoned branch called ends, and changes nothing",
        ),
        pytest.param(
            given(RACE, started(), ended("completed", token=ONE)),
            ended("failed", error=BOOM, token=TokenId(2)),
            Plan(
                [
                    d.EndChild(TokenId(2), RunId("r.2"), "failed", BOOM),
                    d.IgnoreLate(TokenId(2), 1, "the branch was abandoned"),
                    d.RouteToken(TokenId(2), "a", "failed"),
                ]
            ),
            id="failed or not",
        ),
    ],
)
def test_the_end_of_a_child(run: Given, message: ChildEnded, then: Plan) -> None:
    assert plan_child_ended(run.program, run.state(), message) == then


BAD_HANDLER = workflow("""
nodes: {a: {workflow: child}, b: {task: work}}
transitions: [{from: a, to: b, condition: has(state._last_error), foreach: {collection: input.gone}}]
""")
SPENT = RunError("credits_exhausted", "no more")
OVER = d.EndChild(ZERO, CHILD, "exhausted", SPENT)
UNDO = [OVER, d.UndoCall(ZERO, "a"), d.DeclareShort(0)]


@pytest.mark.parametrize(
    ("run", "then"),
    [
        pytest.param(
            given(PLAIN, started(credits=5)),
            UNDO,
            id="where nobody handles it the call is still to be made, and the run is short itself",
        ),
        pytest.param(given(FLOW, started(credits=5)), UNDO, id="so it is in a flow"),
    ],
)
def test_a_child_that_ran_out_of_credits(run: Given, then: list[d.Decision]) -> None:
    assert plan_child_ended(run.program, run.state(), ended("exhausted", error=SPENT)).decisions == then


@pytest.mark.parametrize(
    ("run", "last"),
    [
        pytest.param(given(HANDLED, started(credits=5)), d.CreateToken, id="where somebody handles it"),
        pytest.param(given(BAD_HANDLER, started(credits=5)), d.EndRun, id="also if handling it fails the run"),
        pytest.param(given(PLAIN, started()), d.EndRun, id="where this run has no credits to run out of"),
    ],
)
def test_it_is_a_failure_like_any_other(run: Given, last: type[d.Decision]) -> None:
    first, failed, *_, end = plan_child_ended(run.program, run.state(), ended("exhausted", error=SPENT)).decisions
    assert (first, type(failed), type(end)) == (OVER, d.FailNode, last)


def test_an_error_that_is_caught_without_one_is_the_status() -> None:
    assert caught_error(ended("cancelled")) == {
        "type": "cancelled",
        "message": "cancelled",
        "node": None,
        "status": "cancelled",
        "run_id": "r.0",
    }
