"""What happens to the nodes of a flow when one begins, is done, or fails: the decisions."""

import pytest

from jeton.model import decision as d
from jeton.model.definition.task import Task
from jeton.model.definition.workflow import GateTarget, TaskTarget, WorkflowTarget
from jeton.model.failure import BrokenInvariant, RunError, TaskFailed
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.message import StartRun
from jeton.model.state.flow_run import Executed, WaitingNode
from jeton.model.state.run import FiredBy
from jeton.planning.flow.node import NodeCall
from jeton.planning.flow.progress import (
    flow_of,
    handled_failure,
    plain_input,
    plan_flow_begin,
    plan_flow_completion,
    plan_flow_failure,
    plan_flow_retry,
    plan_flow_start,
    plan_flow_success,
    task_input,
)
from tests.planning.given import BOOM, Given, at, before, done, failed, flow, given, started, token_at, workflow

NOW = 9
FORK = d.ForkHistory(NOW, RunId("old"), 3, 0)
ZERO, ONE = TokenId(0), TokenId(1)

PAIR = flow("{nodes: {a: {type: work}, b: {type: work}}, connections: [{from: a, to: b}]}")
SPLIT = flow("""
nodes: {a: {type: work}, left: {type: work}, right: {type: work}, after: {type: work}}
connections:
- {from: a, from_output: l, to: left}
- {from: a, from_output: r, to: right}
- {from: left, to: after}
- {from: right, to: after}
""")
TRIGGERS = flow("""
nodes: {t: {type: trigger}, u: {type: trigger}, a: {type: work}, b: {type: work}}
connections: [{from: t, to: a}, {from: u, to: b}]
""")
TWO_ROOTS = flow("nodes: {a: {type: work}, b: {type: work}}")
STRICT = flow("{nodes: {a: {type: work}, b: {type: work}}, on_error: fail}")
SMALL = flow("""
nodes: {a: {type: merge}, b: {type: work}}
connections: [{from: a, to: b}]
limits: {max_nodes: 1}
""")
GATE = flow("nodes: {a: {type: gate, data: {title: t}}}")
CALL = flow("nodes: {a: {type: workflow, data: {workflow: child}}}")
WAIT = flow("""
nodes: {a: {type: wait, data: {seconds: 2, label: nap}}, b: {type: work}}
connections: [{from: a, to: b}]
""")
SUM = flow("{nodes: {a: {type: add, inputs: {a: 1, b: 2}}, b: {type: work}}, connections: [{from: a, to: b}]}")
BAD_SUM = flow("{nodes: {a: {type: add}, b: {type: work}}, connections: [{from: a, to: b}]}")


def created(token: int, node: str, parent: TokenId | None = ZERO) -> d.CreateToken:
    return d.CreateToken(TokenId(token), node, "root", parent)


@pytest.mark.parametrize(
    ("run", "fired", "then"),
    [
        pytest.param(
            given(TWO_ROOTS),
            None,
            [d.SettleNodes(ready=("a", "b")), created(0, "a", None), created(1, "b", None)],
            id="a token at every root",
        ),
        pytest.param(
            given(TRIGGERS),
            None,
            [d.SettleNodes(skipped=("u", "b"), ready=("t",)), created(0, "t", None)],
            id="of several triggers at the first; what only another leads to is skipped",
        ),
        pytest.param(
            given(TRIGGERS),
            FiredBy("event", node="u"),
            [d.SettleNodes(skipped=("t", "a"), ready=("u",)), created(0, "u", None)],
            id="or at the one that fired",
        ),
        pytest.param(given(flow("nodes: {}")), None, [], id="an empty flow begins nowhere"),
    ],
)
def test_a_flow_begins(run: Given, fired: FiredBy | None, then: list[d.Decision]) -> None:
    assert plan_flow_start(flow_of(run.program), run.state(), StartRun(NOW, {}, trigger=fired)) == then


def test_a_workflow_is_no_flow() -> None:
    with pytest.raises(BrokenInvariant):
        flow_of(workflow("nodes: {a: {}}"))


BEGIN = d.BeginNode(ZERO, "a")
SETTLED = [d.RouteToken(ZERO, "a", "completed"), d.SettleNodes(ready=("b",)), created(1, "b")]


@pytest.mark.parametrize(
    ("run", "then"),
    [
        pytest.param(
            at("a", PAIR, started()),
            [BEGIN, d.DispatchToken(ZERO, "a", NOW, NOW + 1000, 1, {})],
            id="a task is handed out",
        ),
        pytest.param(
            at("a", SUM, started()),
            [BEGIN, d.ExecuteNode(ZERO, "a", Executed({"result": 3})), *SETTLED],
            id="a built-in is worked out, and what waits for it begins",
        ),
        pytest.param(
            at("a", BAD_SUM, started()),
            [
                BEGIN,
                d.BreakNode(ZERO, "a", TaskFailed("bad_input", "add: missing input 'a'")),
                d.RouteToken(ZERO, "a", "failed"),
                d.SettleNodes(skipped=("b",)),
            ],
            id="or fails, and what waits for it is skipped",
        ),
        pytest.param(
            at("a", WAIT, started()),
            [BEGIN, d.HoldNode(ZERO, "a", NOW, WaitingNode(Executed({}), NOW + 2000, "nap"))],
            id="a wait is held",
        ),
        pytest.param(
            at("b", SMALL, started()),
            [
                d.RouteToken(ONE, "b", "failed"),
                d.EndRun(
                    NOW,
                    "failed",
                    error=RunError("limit_exceeded", "max_nodes: node 'b' would be node 2 of this run", "b", 1),
                ),
            ],
            id="one node too many fails the run, which a retry takes up with the token that the error names",
        ),
    ],
)
def test_a_node_begins(run: Given, then: list[d.Decision]) -> None:
    state = run.state()
    assert run.node is not None
    assert plan_flow_begin(run.program, state, token_at(state, run.node), NOW) == then


@pytest.mark.parametrize(
    ("run", "then"),
    [
        pytest.param(
            at("a", GATE, started({"x": 1})), NodeCall(GateTarget("t"), {}, {"title": "t"}, {"x": 1}), id="a gate"
        ),
        pytest.param(
            at("a", CALL, started()), NodeCall(WorkflowTarget("child"), {}, {"workflow": "child"}), id="a call"
        ),
    ],
)
def test_what_needs_more_than_a_worker_is_handed_back(run: Given, then: NodeCall) -> None:
    state = run.state()
    assert plan_flow_begin(run.program, state, token_at(state, "a"), NOW) == then


@pytest.mark.parametrize(
    ("inputs", "then"),
    [
        pytest.param({"main": {"x": 1}}, {"x": 1}, id="the object that came in on main"),
        pytest.param({"main": {"x": 1}, "y": 2}, {"main": {"x": 1}, "y": 2}, id="beside others it is one of several"),
        pytest.param({"main": 3}, {"main": 3}, id="what is no object stays under its handle"),
        pytest.param({"x": {"y": 1}}, {"x": {"y": 1}}, id="so does what came by another"),
        pytest.param({}, {}, id="nothing is an empty object"),
    ],
)
def test_what_a_task_is_given(inputs: JsonObject, then: Json) -> None:
    call = NodeCall(TaskTarget(Task(())), inputs, {"d": 1})
    assert plain_input(inputs) == task_input(call, "a") == then


def test_a_python_node_is_given_all_there_is_to_know() -> None:
    call = NodeCall(TaskTarget(Task(())), {"main": {"x": 1}}, {"d": 1}, {"c": 2})
    assert task_input(call, "a") == {
        "inputs": {"main": {"x": 1}},
        "data": {"d": 1},
        "context": {"c": 2},
        "node_id": "a",
    }


@pytest.mark.parametrize(
    ("run", "result", "then"),
    [
        pytest.param(
            given(PAIR, started()),
            {"x": 1},
            [d.ExecuteNode(ZERO, "a", Executed({"x": 1})), *SETTLED],
            id="its outputs are kept, and what waits for it begins",
        ),
        pytest.param(
            given(PAIR, started()),
            {"_branch": "nowhere"},
            [
                d.ExecuteNode(ZERO, "a", Executed({}, "nowhere"), dead_end=True),
                d.RouteToken(ZERO, "a", "completed"),
                d.SettleNodes(skipped=("b",)),
            ],
            id="a branch by which nothing leaves is a dead end",
        ),
        pytest.param(
            given(SPLIT, started()),
            {"_branch": "l"},
            [
                d.ExecuteNode(ZERO, "a", Executed({}, "l")),
                d.RouteToken(ZERO, "a", "completed"),
                d.SettleNodes(skipped=("right",), ready=("left",), remaining={"after": 1}),
                created(1, "left"),
            ],
            id="what another branch leads to is skipped, and where they meet one connection is left",
        ),
        pytest.param(
            given(PAIR, started()),
            {"_wait": {"seconds": 2}, "x": 1},
            [d.HoldNode(ZERO, "a", NOW, WaitingNode(Executed({"x": 1}), NOW + 2000))],
            id="a node that asks to wait is held",
        ),
        pytest.param(
            given(WAIT, started()),
            {"x": 1},
            [d.ExecuteNode(ZERO, "a", Executed({}), waited=True), *SETTLED],
            id="when its wait is over its result is the one that was kept",
        ),
        pytest.param(
            given(PAIR, started()),
            [1],
            [
                d.BreakNode(
                    ZERO,
                    "a",
                    TaskFailed(
                        "bad_result", "a node must return an object with its outputs, and this one returned a list"
                    ),
                ),
                d.RouteToken(ZERO, "a", "failed"),
                d.SettleNodes(skipped=("b",)),
            ],
            id="a result that is none fails it",
        ),
        pytest.param(
            given(GATE, started()),
            {"_branch": "x", "y": 1},
            [d.ExecuteNode(ZERO, "a", Executed({"_branch": "x", "y": 1})), d.RouteToken(ZERO, "a", "completed")],
            id="what people say is data, whatever its keys are called",
        ),
        pytest.param(
            given(CALL, started()),
            7,
            [d.ExecuteNode(ZERO, "a", Executed({"result": 7})), d.RouteToken(ZERO, "a", "completed")],
            id="what is no object is the output result",
        ),
        pytest.param(
            given(GATE, started()),
            None,
            [d.ExecuteNode(ZERO, "a", Executed({})), d.RouteToken(ZERO, "a", "completed")],
            id="nothing is no output",
        ),
    ],
)
def test_a_node_that_is_done(run: Given, result: Json, then: list[d.Decision]) -> None:
    state = run.state()
    assert plan_flow_success(run.program, state, token_at(state, "a"), result, NOW) == then


LATE = TaskFailed("timed_out", "late", stack="at line 1")


@pytest.mark.parametrize(
    ("run", "failure", "then"),
    [
        pytest.param(
            given(PAIR, started()),
            BOOM,
            [d.BreakNode(ZERO, "a", BOOM), d.RouteToken(ZERO, "a", "failed"), d.SettleNodes(skipped=("b",))],
            id="what depends on it is skipped",
        ),
        pytest.param(
            given(TWO_ROOTS, started()),
            LATE,
            [d.BreakNode(ZERO, "a", LATE), d.RouteToken(ZERO, "a", "timed_out")],
            id="what does not goes on; one that was late ends timed out",
        ),
        pytest.param(
            given(STRICT, started()),
            LATE,
            [
                d.BreakNode(ZERO, "a", LATE),
                d.RouteToken(ZERO, "a", "timed_out"),
                d.EndTokens(((1, 1),), "cancelled", "run failed: timed_out"),
                d.EndRun(
                    NOW,
                    "failed",
                    error=RunError("timed_out", "late", "a", 0, attempts=1, details={"stack": "at line 1"}),
                ),
            ],
            id="where the first error is the run's everything stops",
        ),
    ],
)
def test_a_node_that_failed(run: Given, failure: TaskFailed, then: list[d.Decision]) -> None:
    state = run.state()
    assert plan_flow_failure(run.program, state, token_at(state, "a"), failure, NOW) == then


BAD_OUTPUT = flow("{nodes: {a: {type: work}}, output_schema: {properties: {x: {type: integer}}}}")
MAPPED = flow("{nodes: {a: {type: work}}, output_mapping: {y: context.x, z: context.gone}}")


@pytest.mark.parametrize(
    ("run", "then"),
    [
        pytest.param(
            before(d.EndRun, TWO_ROOTS, started({"i": 1}), done(0, {"x": 1}), done(1, {"y": 2})),
            d.EndRun(NOW, "completed", {"i": 1, "x": 1, "y": 2}),
            id="without errors it completes",
        ),
        pytest.param(
            before(d.EndRun, MAPPED, started(), done(0, {"x": 1})),
            d.EndRun(NOW, "completed", {"y": 1, "z": None}, missing=("context.gone",)),
            id="with the mapped output, and what that missed",
        ),
        pytest.param(
            before(d.EndRun, BAD_OUTPUT, started(), done(0, {"x": "one"})),
            d.EndRun(NOW, "failed", error=RunError("output_invalid", 'output.x: "one" is not of type "integer"')),
            id="an output that does not fit fails it",
        ),
        pytest.param(
            before(d.EndRun, TWO_ROOTS, started(), failed(1), done(0, {})),
            d.EndRun(NOW, "failed", error=RunError("boom", "it broke", "b", step="s")),
            id="one error is the run's",
        ),
        pytest.param(
            before(d.EndRun, TWO_ROOTS, started(), failed(1, TaskFailed("bang", "b broke")), failed(0)),
            d.EndRun(NOW, "failed", error=RunError("boom", "it broke (and 1 more)", "a", step="s")),
            id="of several the first as declared, whichever came first",
        ),
    ],
)
def test_a_flow_in_which_every_node_is_settled(run: Given, then: d.Decision) -> None:
    assert plan_flow_completion(run.program, run.state(), NOW) == [then]


@pytest.mark.parametrize(
    ("run", "then"),
    [
        pytest.param(
            before(d.EndRun, PAIR, started(), failed(0)),
            [d.ReopenNodes(("a",), ("b",), {"b": 1}), created(1, "a", None)],
            id="a token at every node that failed, and what was skipped for it waits again",
        ),
        pytest.param(
            before(d.EndRun, TWO_ROOTS, started(), failed(1), failed(0)),
            [d.ReopenNodes(("a", "b"), (), {}), created(2, "a", None), created(3, "b", None)],
            id="each has a token of its own, in the order of the flow",
        ),
        pytest.param(
            before(d.EndRun, PAIR, started(), done(0), done(1)), [], id="without errors nothing is done again"
        ),
        pytest.param(
            given(workflow("nodes: {a: {task: work}}"), started()), [], id="a workflow has no nodes to reopen"
        ),
    ],
)
def test_a_flow_that_is_tried_again(run: Given, then: list[d.Decision]) -> None:
    assert plan_flow_retry(run.program, run.state(), FORK) == [FORK, *then]


CLEAN_UP = flow("""
nodes: {a: {type: work}, b: {type: work}, z: {type: work, run_when: settled}}
connections: [{from: a, to: z}]
""")


def test_a_retry_drops_what_was_under_way_behind_a_failure() -> None:
    state = given(CLEAN_UP, started(), failed(0)).state()
    assert plan_flow_retry(CLEAN_UP, state, FORK) == [
        d.ForkHistory(NOW, RunId("old"), 3, 0, dropped=(TokenId(2),)),
        d.ReopenNodes(("a",), (), {"z": 1}, ("z",)),
        created(3, "a", None),
    ]


HANDLING = flow("""
nodes: {a: {type: work, on_error: route}, b: {type: work}, c: {type: patient, on_error: {default: {x: 1, _branch: y}}}}
connections: [{from: a, from_output: error, to: b}]
on_error: fail
""")
FAILURE: JsonObject = {"node": "a", "type": "boom", "message": "it broke", "attempts": 1}


@pytest.mark.parametrize(
    ("node", "failure", "then"),
    [
        pytest.param("a", BOOM, Executed({"error": FAILURE}, "error", BOOM), id="routed: it is the only output"),
        pytest.param("b", BOOM, None, id="not handled"),
        pytest.param(
            "c",
            BOOM,
            Executed({"x": 1, "error": {**FAILURE, "node": "c"}}, "y", BOOM),
            id="a default, and the failure",
        ),
        pytest.param(
            "a",
            TaskFailed("boom", "it broke", calls=3),
            Executed({"error": {**FAILURE, "calls": 3}}, "error", TaskFailed("boom", "it broke", calls=3)),
            id="with the number of calls, if there were several",
        ),
    ],
)
def test_what_a_node_makes_of_its_failure(node: str, failure: TaskFailed, then: Executed | None) -> None:
    assert handled_failure(flow_of(HANDLING), node, failure, 1) == then


def test_a_handled_failure_goes_on_as_a_node_that_ran() -> None:
    state = given(HANDLING, started()).state()
    done_so = Executed({"error": FAILURE}, "error", BOOM)
    assert plan_flow_failure(HANDLING, state, token_at(state, "a"), BOOM, NOW) == [
        d.ExecuteNode(ZERO, "a", done_so),
        d.RouteToken(ZERO, "a", "failed"),
        d.SettleNodes(ready=("b",)),
        created(2, "b", ZERO),
    ]
