"""What a node's result leads to."""

import pytest
from msgspec import UNSET

from jeton.model import decision as d
from jeton.model.definition.task import DEFAULT_TASK_TIMEOUT_MS
from jeton.model.failure import RunError, TaskFailed
from jeton.model.ids import TokenId
from jeton.model.json import Json
from jeton.model.message import AlarmRang, Message, TaskStarted, TaskSuspended
from jeton.model.state.flow_run import Executed
from jeton.planning.tokens.node import (
    NodeFinished,
    Plan,
    plan_onward,
    plan_success,
    plan_task_failure,
    task_timeout,
)
from jeton.planning.waits.retry import retry_delay_ms
from tests.planning.given import BOOM, RUN, Given, before, done, failed, flow, given, started, workflow

NOW = 9
ZERO, ONE = TokenId(0), TokenId(1)
ASKS = TaskFailed("boom", "it broke", "s", retry=True)

TASK = workflow("nodes: {a: {task: work}}")
MAPPED = workflow("nodes: {a: {task: work, output_mapping: {state.x: result.x, output.y: result.gone}}}")
UNMAPPABLE = workflow("nodes: {a: {task: work, output_mapping: {state.x: result.x + 1}}}")
STRICT = workflow("""
nodes: {a: {task: work, output_mapping: {state.x: result.x}}}
state_schema: {properties: {x: {type: integer}}}
""")
STRICT_BRANCH = workflow("""
nodes: {s: {}, a: {task: work, output_mapping: {state.x: result.x}}}
transitions: [{from: s, to: a, spawn_count: 1}]
state_schema: {properties: {x: {type: integer}}}
""")
BRANCH = workflow("{nodes: {s: {}, a: {task: work}}, transitions: [{from: s, to: a, spawn_count: 1}]}")
TIMER = workflow("nodes: {a: {wait: {seconds: 2}}}")
GATE = workflow("nodes: {a: {gate: {title: t}}}")
FLOW = flow("nodes: {a: {type: work}}")


@pytest.mark.parametrize(
    ("run", "token", "result", "then"),
    [
        pytest.param(
            given(TASK, started()),
            0,
            {"x": 1},
            Plan([d.FinishNode(ZERO, "a", "task", {}, ("before",))], NodeFinished(ZERO, {"x": 1})),
            id="without a mapping nothing is written, and the token looks for the way on",
        ),
        pytest.param(
            given(MAPPED, started()),
            0,
            {"x": 1},
            Plan(
                [d.FinishNode(ZERO, "a", "task", {"state.x": 1, "output.y": None}, ("before", "result.gone"))],
                NodeFinished(ZERO, {"x": 1}),
            ),
            id="its mapped output is written, and what was missing is recorded with what its input missed",
        ),
        pytest.param(
            given(STRICT, started()),
            0,
            {"x": 1},
            Plan([d.FinishNode(ZERO, "a", "task", {"state.x": 1}, ("before",))], NodeFinished(ZERO, {"x": 1})),
            id="what fits the state's schema is written",
        ),
        pytest.param(
            given(STRICT_BRANCH, started()),
            1,
            {"x": "one"},
            Plan([d.FinishNode(ONE, "a", "task", {"state.x": "one"}, ("before",))], NodeFinished(ONE, {"x": "one"})),
            id="a branch writes to its own output, which has no schema",
        ),
        pytest.param(
            given(BRANCH, started()),
            1,
            7,
            Plan([d.FinishNode(ONE, "a", "task", {"_branch.output": 7}, ("before",))], NodeFinished(ONE, 7)),
            id="without a mapping a branch keeps its result",
        ),
        pytest.param(
            given(TIMER, started()),
            0,
            None,
            Plan([d.FinishNode(ZERO, "a", "timer", {}, ("before",))], NodeFinished(ZERO, None)),
            id="a wait that is over is said to have been one",
        ),
        pytest.param(
            given(TASK, started(), TaskStarted(1, ZERO, 1)),
            0,
            None,
            Plan([d.FinishNode(ZERO, "a", "task", {}, ("before",))], NodeFinished(ZERO, None)),
            id="a task that was executing is still a task",
        ),
        pytest.param(
            given(TASK, started(), TaskSuspended(1, ZERO, 1, 50, "nap")),
            0,
            None,
            Plan([d.FinishNode(ZERO, "a", "task", {}, ("before",))], NodeFinished(ZERO, None)),
            id="and one that sleeps is a task, not a wait",
        ),
        pytest.param(
            given(GATE, started()),
            0,
            1,
            Plan([d.FinishNode(ZERO, "a", None, {}, ("before",))], NodeFinished(ZERO, 1)),
            id="a gate has a decision of its own, and is neither",
        ),
        pytest.param(
            given(FLOW, started()),
            0,
            {"x": 1},
            Plan([d.ExecuteNode(ZERO, "a", Executed({"x": 1})), d.RouteToken(ZERO, "a", "completed")]),
            id="in a flow the node is executed",
        ),
    ],
)
def test_a_success(run: Given, token: int, result: Json, then: Plan) -> None:
    state = run.state()
    assert plan_success(run.program, state, state.tokens[TokenId(token)], result, NOW, ("before",)) == then


@pytest.mark.parametrize(
    ("run", "result", "type", "says"),
    [
        pytest.param(
            given(STRICT, started()),
            {"x": "one"},
            "state_invalid",
            'state.x: "one" is not of type "integer"',
            id="what the state's schema refuses fails the node",
        ),
        pytest.param(
            given(UNMAPPABLE, started()),
            {"x": "one"},
            "expression_error",
            "output_mapping at ",
            id="so does a mapping that cannot be evaluated",
        ),
    ],
)
def test_a_success_that_fails(run: Given, result: Json, type: str, says: str) -> None:
    state = run.state()
    plan = plan_success(run.program, state, state.tokens[ZERO], result, NOW)
    failed_node, routed, end = plan.decisions
    assert isinstance(failed_node, d.FailNode)
    assert isinstance(end, d.EndRun)
    assert (failed_node.error["type"], end.status, plan.then) == (type, "failed", None)
    assert str(failed_node.error["message"]).startswith(says)
    assert routed == d.RouteToken(ZERO, "a", "failed")


ONWARD = workflow("{nodes: {a: {task: work}, b: {}}, transitions: [{from: a, to: b}]}")
CHOOSY = """
nodes: {a: {task: work}, b: {}, c: {}}
transitions:
- {from: a, to: b, condition: result.n > 1}
- {from: a, to: c, condition: result.n == 1, priority: 2}
"""
CHOICE = workflow(CHOOSY)
LENIENT = workflow(CHOOSY + "on_no_match: complete")
FAN_OUT = workflow("{nodes: {a: {task: work}, b: {}}, transitions: [{from: a, to: b, foreach: {collection: input.n}}]}")
FEW_TOKENS = workflow("""
nodes: {a: {task: work}, b: {}}
transitions: [{from: a, to: b, foreach: {collection: input.n}}]
limits: {max_tokens: 2}
""")
HANDLED_FAN_OUT = workflow("""
nodes: {a: {task: work}, b: {}, c: {task: work}}
transitions:
- {from: a, to: b, foreach: {collection: input.n}}
- {from: a, to: c, condition: has(state._last_error)}
""")
FIRST = workflow("""
nodes: {a: {task: work, fan_out: first_match}, b: {}, c: {}}
transitions: [{from: a, to: b}, {from: a, to: c}]
""")
MATCHED, FALSE = d.Considered(0, "matched"), d.Considered(0, "false")


def onward(run: Given, result: Json) -> list[d.Decision]:
    return plan_onward(run.program, run.state(), NodeFinished(ZERO, result), NOW)


@pytest.mark.parametrize(
    ("run", "result", "then"),
    [
        pytest.param(
            before(d.RouteToken, ONWARD, started(), done(0)),
            None,
            [d.RouteToken(ZERO, "a", "completed", (MATCHED,)), d.CreateToken(ONE, "b", "root", ZERO)],
            id="the only way on is taken",
        ),
        pytest.param(
            before(d.RouteToken, FIRST, started(), done(0)),
            None,
            [
                d.RouteToken(ZERO, "a", "completed", (MATCHED, d.Considered(1, "not_first"))),
                d.CreateToken(ONE, "b", "root", ZERO),
            ],
            id="of several the first, if the node says so",
        ),
        pytest.param(
            before(d.RouteToken, TASK, started(), done(0)),
            None,
            [d.RouteToken(ZERO, "a", "completed")],
            id="without any the token ends",
        ),
        pytest.param(
            before(d.RouteToken, CHOICE, started(), done(0, {"n": 1})),
            {"n": 1},
            [
                d.RouteToken(ZERO, "a", "completed", (FALSE, d.Considered(1, "matched"))),
                d.CreateToken(ONE, "c", "root", ZERO),
            ],
            id="conditions see the result",
        ),
        pytest.param(
            before(d.RouteToken, CHOICE, started(), done(0, {"n": 0})),
            {"n": 0},
            [
                d.RouteToken(ZERO, "a", "failed"),
                d.EndRun(
                    NOW,
                    "failed",
                    error=RunError(
                        "no_matching_transition",
                        "node 'a' finished and no transition matches: "
                        "to 'b': result.n > 1 is false with result.n = 0; "
                        "to 'c': result.n == 1 is false with result.n = 0",
                        "a",
                        0,
                    ),
                ),
            ],
            id="where none matches the run fails, and says of each why",
        ),
        pytest.param(
            before(d.RouteToken, LENIENT, started(), done(0, {"n": 0})),
            {"n": 0},
            [d.RouteToken(ZERO, "a", "completed", (FALSE, d.Considered(1, "false")))],
            id="or the token ends, if the workflow says so",
        ),
        pytest.param(
            before(d.RouteToken, FEW_TOKENS, started({"n": [1, 2, 3]}), done(0)),
            {"n": [1, 2, 3]},
            [
                d.RouteToken(ZERO, "a", "failed"),
                d.EndRun(
                    NOW,
                    "failed",
                    error=RunError(
                        "limit_exceeded", "max_tokens: more than 2 tokens would be alive at once, at 'a'", "a", 0
                    ),
                ),
            ],
            id="more tokens than the limit fail the run",
        ),
    ],
)
def test_the_way_on(run: Given, result: Json, then: list[d.Decision]) -> None:
    assert onward(run, result) == then


def test_a_condition_that_cannot_be_evaluated_fails_the_run_and_names_the_node() -> None:
    routed, end = onward(before(d.RouteToken, CHOICE, started(), done(0, {"n": "x"})), {"n": "x"})
    assert routed == d.RouteToken(ZERO, "a", "failed")
    assert isinstance(end, d.EndRun)
    assert end.error is not None
    assert (end.error.type, end.error.node, end.error.token) == ("expression_error", "a", 0)
    assert isinstance(end.error.details, dict)
    assert end.error.details["values"] == {"result.n": "x"}


def test_a_fan_out_that_cannot_be_made_fails_the_node() -> None:
    failed_node, routed, end = onward(before(d.FailNode, FAN_OUT, started({"n": 3}), done(0)), None)
    assert isinstance(failed_node, d.FailNode)
    assert failed_node.error["type"] == "not_a_list"
    assert routed == d.RouteToken(ZERO, "a", "failed")
    assert isinstance(end, d.EndRun)


def test_that_failure_can_be_handled_as_any_other() -> None:
    failed_node, routed, created = onward(before(d.FailNode, HANDLED_FAN_OUT, started({"n": 3}), done(0)), None)
    assert isinstance(failed_node, d.FailNode)
    assert routed == d.RouteToken(ZERO, "a", "failed", (d.Considered(1, "matched"),))
    assert created == d.CreateToken(ONE, "c", "root", ZERO, error=failed_node.error)


PATIENT = workflow("nodes: {a: {task: patient}}")
RACE = workflow("""
nodes: {s: {}, a: {task: patient}, end: {task: work}}
transitions:
- {from: s, to: a, spawn_count: 2}
- {from: a, to: end, synchronization: {strategy: any, on_early_complete: abandon}}
""")
FAILS = d.FailNode(ZERO, "a", {"node": "a", "step": "s", "type": "boom", "message": "it broke", "attempts": 1})


def retried(attempt: int) -> d.Decision:
    policy = PATIENT.nodes["a"].task
    assert policy is not None
    assert policy.retry is not None
    due = NOW + retry_delay_ms(policy.retry, attempt, RUN, ZERO)
    assert NOW + 5 * attempt <= due <= NOW + 6 * attempt
    return d.RetryToken(ZERO, "a", NOW, due, attempt + 1, ASKS)


@pytest.mark.parametrize(
    ("run", "failure", "then"),
    [
        pytest.param(given(PATIENT, started()), ASKS, retried(1), id="what asked for it is tried again later"),
        pytest.param(given(PATIENT, started()), BOOM, FAILS, id="what did not ask fails at once"),
        pytest.param(given(TASK, started()), ASKS, FAILS, id="so does a task without a policy"),
    ],
)
def test_a_task_that_failed(run: Given, failure: TaskFailed, then: d.Decision) -> None:
    state = run.state()
    assert plan_task_failure(run.program, state, state.tokens[ZERO], failure, NOW)[0] == then


@pytest.mark.parametrize(
    ("attempts", "again"),
    [
        pytest.param(1, True, id="behind the second of three attempts there is one more"),
        pytest.param(2, False, id="behind the third there is none"),
    ],
)
def test_how_often_a_task_is_tried(attempts: int, again: bool) -> None:
    messages: list[Message] = [started()]
    for attempt in range(1, attempts + 1):
        messages += [failed(0, ASKS, attempt=attempt), AlarmRang(100 * attempt)]
    state = given(PATIENT, *messages).state()
    found = plan_task_failure(PATIENT, state, state.tokens[ZERO], ASKS, NOW)
    assert (found == [retried(attempts + 1)]) if again else isinstance(found[-1], d.EndRun)


def test_an_abandoned_branch_is_not_tried_again() -> None:
    state = given(RACE, started(), done(1)).state()
    abandoned = state.tokens[TokenId(2)]
    assert abandoned.abandoned
    assert not any(isinstance(each, d.RetryToken) for each in plan_task_failure(RACE, state, abandoned, ASKS, NOW))


def test_how_long_an_attempt_may_take_is_for_its_task_to_say() -> None:
    state = given(TASK, started()).state()
    assert task_timeout(TASK, state, "a", UNSET) == 1000
    waiting = given(TIMER, started()).state()
    assert task_timeout(TIMER, waiting, "a", UNSET) == DEFAULT_TASK_TIMEOUT_MS
