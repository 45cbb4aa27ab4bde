"""What an alarm means for whoever is waiting."""

import pytest

from jeton.model import decision as d
from jeton.model.cue import TimerDue
from jeton.model.failure import RunError, TaskFailed
from jeton.model.ids import GroupId, RunId, TokenId
from jeton.model.json import JsonObject
from jeton.model.message import TaskLost, TaskStarted, TaskSuspended
from jeton.planning.tokens.node import NodeFinished, Plan
from jeton.planning.waits.deadline import plan_due
from tests.planning.given import Given, at, done, failed, given, started, workflow

NOW = 5000
ZERO, ONE, TWO = TokenId(0), TokenId(1), TokenId(2)

TASK = workflow("{nodes: {a: {task: work}}, timeout_ms: 7}")
MAPPED = workflow("nodes: {a: {task: patient, input_mapping: {x: input.x}}}")
TIMER = workflow("nodes: {a: {wait: {seconds: 2}}}")
SIGNAL = workflow("nodes: {a: {wait: {signal: go, timeout_ms: 30}}}")
GATE = workflow("nodes: {a: {gate: {title: t, timeout_ms: 30, on_timeout: 1}}}")
CALL = workflow("nodes: {a: {workflow: child, timeout_ms: 30}}")
JOIN = workflow("""
nodes: {s: {}, a: {task: work}, end: {task: work}}
transitions:
- {from: s, to: a, spawn_count: 2}
- {from: a, to: end, synchronization: {timeout_ms: 30, on_timeout: proceed_with_available}}
""")


def race(target: str) -> Given:
    """The branch at `a` was abandoned: the one at `w` won."""
    program = workflow(f"""
nodes: {{s: {{}}, w: {{task: work}}, a: {{{target}}}, end: {{task: work}}}}
transitions:
- {{from: s, to: w}}
- {{from: s, to: a}}
- {{from: w, to: end, synchronization: {{strategy: any, on_early_complete: abandon}}}}
- {{from: a, to: end, synchronization: {{strategy: any, on_early_complete: abandon}}}}
""")
    return given(program, started(), *([TaskStarted(1, TWO, 1)] if "task" in target else []), done(1))


ASKS = TaskFailed("boom", "it broke", retry=True)
LATE = "the task was not done 1000 ms after it began"
TOO_LATE = "the workflow was not done 30 ms after its start"


def timed_out(message: str) -> JsonObject:
    return {"node": "a", "step": None, "type": "timed_out", "message": message, "attempts": 1}


def run_failed(message: str) -> list[d.Decision]:
    return [
        d.FailNode(ZERO, "a", timed_out(message)),
        d.RouteToken(ZERO, "a", "timed_out"),
        d.EndRun(NOW, "failed", error=RunError("timed_out", message, "a", 0, attempts=1)),
    ]


@pytest.mark.parametrize(
    ("run", "token", "then"),
    [
        pytest.param(
            given(TIMER, started()),
            ZERO,
            Plan([d.FinishNode(ZERO, "a", "timer")], NodeFinished(ZERO, None)),
            id="a timed wait is over, and its result is nothing",
        ),
        pytest.param(
            given(TASK, started()),
            ZERO,
            Plan([d.RedeliverToken(ZERO, "a", NOW, NOW + 1000, 1, 1)]),
            id="a task that nobody began is asked for again: it is not late, and no worker was lost",
        ),
        pytest.param(
            given(TASK, started(), TaskLost(1, ZERO, 1)),
            ZERO,
            Plan([d.RedeliverToken(ZERO, "a", NOW, NOW + 1000, 1, 2)]),
            id="workers that were lost before stay counted",
        ),
        pytest.param(
            given(TASK, started(), TaskStarted(1, ZERO, 1)),
            ZERO,
            Plan(run_failed(LATE)),
            id="a task that began is late, and fails its node",
        ),
        pytest.param(
            given(TASK, started(), TaskSuspended(1, ZERO, 1, 50, "nap")),
            ZERO,
            Plan([d.WakeToken(ZERO, "a", NOW, NOW + 1000, 1)]),
            id="a task that slept is given to a worker again, with all its time",
        ),
        pytest.param(
            given(MAPPED, started({"x": 1}), failed(0, ASKS)),
            ZERO,
            Plan([d.DispatchToken(ZERO, "a", NOW, NOW + 1000, 2, {"x": 1})]),
            id="a task is tried again, as the next attempt with the same input",
        ),
        pytest.param(
            given(CALL, started(at=100)),
            ZERO,
            Plan([d.StopChild(ZERO, RunId("r.0"), "timed out"), *run_failed(TOO_LATE)]),
            id="a run that was called is stopped, and its node fails",
        ),
        pytest.param(
            given(GATE, started()),
            ZERO,
            Plan([d.TimeOutGate(ZERO, "a"), d.FinishNode(ZERO, "a")], NodeFinished(ZERO, 1)),
            id="a gate goes on as it says",
        ),
        pytest.param(
            given(SIGNAL, started()),
            ZERO,
            Plan(run_failed("no signal 'go' came within 30 ms")),
            id="a signal that did not come fails its node",
        ),
        pytest.param(at("a", TASK, started()), ZERO, Plan([]), id="whoever waits for no time is left alone"),
        pytest.param(
            race("wait: {seconds: 9}"),
            TWO,
            Plan([d.RouteToken(TWO, "a", "completed")]),
            id="an abandoned wait ends, and does not go on",
        ),
        pytest.param(
            race("task: work"),
            TWO,
            Plan([d.EndTokens(((2, 2),), "timed_out", "the branch was abandoned")]),
            id="an abandoned task is stopped, and fails nothing",
        ),
        pytest.param(
            race("workflow: child, timeout_ms: 30"),
            TWO,
            Plan(
                [
                    d.StopChild(TWO, RunId("r.2"), "the branch was abandoned"),
                    d.EndTokens(((2, 2),), "timed_out", "the branch was abandoned"),
                ]
            ),
            id="and so is the run that an abandoned branch called",
        ),
    ],
)
def test_a_token_whose_time_has_come(run: Given, token: TokenId, then: Plan) -> None:
    assert plan_due(run.program, run.state(), TimerDue(token), NOW) == then


def test_a_late_task_is_not_tried_again_whatever_its_policy_says() -> None:
    state = given(MAPPED, started({"x": 1}), TaskStarted(1, ZERO, 1)).state()
    assert plan_due(MAPPED, state, TimerDue(ZERO), NOW).decisions == run_failed(LATE)


def test_a_fan_in_whose_time_has_come_is_done_with() -> None:
    state = given(JOIN, started(), done(1)).state()
    assert plan_due(JOIN, state, TimerDue(group=GroupId(0), node="end"), NOW).decisions == [
        d.TimeOutFanIn(GroupId(0), "end"),
        d.EndTokens(((2, 2),), "timed_out", "the fan-in at 'end' opened"),
        d.OpenFanIn(GroupId(0), "end", ((0, 0),), ((1, 1),)),
        d.CreateToken(TokenId(3), "end", "root", ZERO),
    ]


def test_a_run_whose_time_is_over_ends_with_all_its_tokens() -> None:
    error = RunError("timed_out", "the run was not done 7 ms after it started")
    assert plan_due(TASK, given(TASK, started()).state(), TimerDue(), NOW).decisions == [
        d.EndTokens(((0, 0),), "cancelled", "run timed_out: timed_out"),
        d.EndRun(NOW, "timed_out", error=error),
    ]
