"""The one match over a run's messages, and the one over the cues that follow."""

import pytest

from jeton.model import decision as d
from jeton.model.cue import Cue, GroupChanged, SlotQuiet, TimerDue, TokenReady
from jeton.model.failure import RunError, TaskFailed
from jeton.model.ids import GroupId, RunId, TokenId
from jeton.model.message import (
    AlarmRang,
    AnswerGate,
    CancelRun,
    ChildEnded,
    ContinueRun,
    CreditsAsked,
    CreditsClosed,
    CreditsEnded,
    CreditsGranted,
    ForkRun,
    Message,
    PauseRun,
    SignalRun,
    StartRun,
    TaskAsked,
    TaskFinished,
    TaskLost,
    TaskNoted,
    TaskReturned,
    TaskStarted,
    TaskSuspended,
    TriggerHeard,
    UnpauseRun,
)
from jeton.model.note import CostNote, LogNote
from jeton.model.state.phase import GateAnswer
from jeton.planning.plan_run import MAX_DELIVERIES, plan_cue, plan_idle, plan_run, plan_started
from jeton.planning.tokens.node import NodeFinished, Plan
from tests.planning.given import Given, at, before, done, failed, flow, given, slot, started, workflow

NOW = 9
ZERO, ONE, TWO = TokenId(0), TokenId(1), TokenId(2)
BELOW = RunId("r.0")
NOTE = LogNote("s", "stdout", "hi")

TASK = workflow("nodes: {a: {task: work}}")
PATIENT = workflow("nodes: {a: {task: patient}}")
TIMED = workflow("{nodes: {a: {task: work}}, timeout_ms: 100}")
GATE = workflow("nodes: {a: {gate: {title: t}}}")
SIGNAL = workflow("nodes: {a: {wait: {signal: go}}}")
CALL = workflow("nodes: {a: {workflow: child}}")
RACE = workflow("""
nodes: {s: {}, a: {task: patient}, end: {task: work}}
transitions:
- {from: s, to: a, spawn_count: 2}
- {from: a, to: end, synchronization: {strategy: any, on_early_complete: abandon}}
""")
FLOW = flow("{nodes: {a: {type: work}, b: {type: merge}}, connections: [{from: a, to: b}]}")

RUNNING = given(TASK, started())
ASKS = TaskFailed("boom", "it broke", retry=True)
WAITED = RunError("cancelled", "enough")
ASKED = TaskAsked(1, ZERO, 1, "How many?")
TOLD = AnswerGate(2, "m", 7, token=ZERO)


def late(why: str, token: TokenId = ZERO, attempt: int = 1) -> Plan:
    return Plan([d.IgnoreLate(token, attempt, why)])


ABANDONED = given(RACE, started(), done(1))
BRANCH_LATE = d.IgnoreLate(TWO, 1, "the branch was abandoned")


@pytest.mark.parametrize(
    ("run", "message", "then"),
    [
        pytest.param(
            given(TASK),
            StartRun(NOW, {}),
            Plan([d.BeginRun(NOW, {}), d.CreateToken(ZERO, "a", "root")]),
            id="a start begins the run",
        ),
        pytest.param(
            RUNNING,
            done(0, {"x": 1}),
            Plan([d.FinishNode(ZERO, "a", "task")], NodeFinished(ZERO, {"x": 1})),
            id="a result finishes the node",
        ),
        pytest.param(
            RUNNING,
            TaskFinished(NOW, ZERO, 1),
            Plan([d.FinishNode(ZERO, "a", "task")], NodeFinished(ZERO, None)),
            id="a result of nothing is one",
        ),
        pytest.param(RUNNING, done(7), late("the token has ended", TokenId(7)), id="one for a token that has ended"),
        pytest.param(given(GATE, started()), done(0), late("the token waits for no result"), id="or waits for none"),
        pytest.param(
            RUNNING, done(0, attempt=2), late("attempt 1 is under way", attempt=2), id="or of another attempt is late"
        ),
        pytest.param(
            ABANDONED,
            done(2),
            Plan([BRANCH_LATE, d.RouteToken(TWO, "a", "completed")]),
            id="what an abandoned branch gives is ignored, and it does not go on",
        ),
        pytest.param(
            ABANDONED,
            failed(2, ASKS),
            Plan([BRANCH_LATE, d.RouteToken(TWO, "a", "failed")]),
            id="so is its failure: it is not tried again",
        ),
        pytest.param(
            RUNNING,
            TaskStarted(NOW, ZERO, 1),
            Plan([d.MarkExecuting(ZERO, NOW, NOW + 1000)]),
            id="a task that begins has its time from then",
        ),
        pytest.param(
            RUNNING,
            TaskNoted(NOW, ZERO, 1, NOTE),
            Plan([d.NoteTask(ZERO, "a", 1, NOTE)]),
            id="what a task says is kept",
        ),
        pytest.param(RUNNING, TaskNoted(NOW, ZERO, 2, NOTE), Plan([]), id="of another attempt it is old news"),
        pytest.param(
            RUNNING,
            TaskSuspended(NOW, ZERO, 1, 50, "nap"),
            Plan([d.SuspendToken(ZERO, "a", NOW, 50, "nap")]),
            id="a task that sleeps holds no worker",
        ),
        pytest.param(
            RUNNING,
            TaskSuspended(NOW, ONE, 1, 50, "nap"),
            late("the token has ended", ONE),
            id="one that has ended is late",
        ),
        pytest.param(
            given(TASK, started(), TaskSuspended(1, ZERO, 1, 50, "nap"), AlarmRang(50)),
            TaskSuspended(60, ZERO, 1, 50, "nap"),
            late("that sleep is over"),
            id="a sleep that is over is not begun again",
        ),
        pytest.param(
            given(TASK, started(), TaskSuspended(1, ZERO, 1, 50, "nap"), AlarmRang(50)),
            TaskSuspended(60, ZERO, 1, 51, "next"),
            Plan([d.SuspendToken(ZERO, "a", 60, 51, "next")]),
            id="the next one is",
        ),
        pytest.param(
            RUNNING,
            TaskSuspended(NOW, ZERO, 1, 50, "nap", {"at": 3}),
            Plan([d.SuspendToken(ZERO, "a", NOW, 50, "nap", {"at": 3})]),
            id="what it wants to find again is kept",
        ),
        pytest.param(
            RUNNING,
            TaskAsked(NOW, ZERO, 1, "How many?", {"type": "integer"}, "s", 30),
            Plan([d.AskInput(ZERO, "a", NOW, "How many?", {"type": "integer"}, "s", NOW + 30)]),
            id="what a task asks is a gate",
        ),
        pytest.param(
            given(TASK, started(), ASKED),
            TaskAsked(NOW, ZERO, 1, "Again?"),
            late("the token waits for no result"),
            id="it asks one thing at a time",
        ),
        pytest.param(
            given(TASK, started(), ASKED, TOLD),
            ASKED,
            late("that question was answered"),
            id="a question that was answered is not asked again",
        ),
        pytest.param(
            given(TASK, started(), ASKED, TOLD),
            TaskAsked(NOW, ZERO, 1, "And?", continued=1),
            Plan([d.AskInput(ZERO, "a", NOW, "And?")]),
            id="the next one is",
        ),
        pytest.param(
            ABANDONED,
            TaskAsked(NOW, TWO, 1, "Who?"),
            Plan([BRANCH_LATE, d.RouteToken(TWO, "a", "failed")]),
            id="nobody is asked for an abandoned branch",
        ),
        pytest.param(
            RUNNING,
            TaskLost(NOW, ZERO, 1),
            Plan([d.RedeliverToken(ZERO, "a", NOW, NOW + 1000, 1, 2)]),
            id="a task whose worker is lost is given to another",
        ),
        pytest.param(
            given(TASK, started(), TaskStarted(1, ZERO, 1)),
            TaskLost(NOW, ZERO, 1),
            Plan([d.RedeliverToken(ZERO, "a", NOW, NOW + 1000, 1, 2)]),
            id="also one that had begun",
        ),
        pytest.param(RUNNING, TaskLost(NOW, ZERO, 2), Plan([]), id="of another attempt that is old news"),
        pytest.param(
            given(TASK, started(), TaskLost(8, ZERO, 1)),
            TaskReturned(NOW, ZERO, 1),
            Plan([d.RedeliverToken(ZERO, "a", NOW, NOW + 1000, 1, 1)]),
            id="a task that a clean shutdown gives back is one delivery less",
        ),
        pytest.param(RUNNING, TaskReturned(NOW, ZERO, 2), Plan([]), id="giving back another attempt changes nothing"),
        pytest.param(
            RUNNING,
            CancelRun(NOW, "enough"),
            Plan(
                [
                    d.EndTokens(((0, 0),), "cancelled", "run cancelled: enough"),
                    d.EndRun(NOW, "cancelled", error=WAITED),
                ]
            ),
            id="a cancellation ends all its tokens, and the run",
        ),
        pytest.param(
            RUNNING,
            CancelRun(NOW, by_parent=True),
            Plan(
                [
                    d.EndTokens(((0, 0),), "cancelled", "run cancelled: the run was cancelled"),
                    d.EndRun(NOW, "cancelled", error=RunError("cancelled", "the run was cancelled"), untold=True),
                ]
            ),
            id="a parent that cancels wants no answer",
        ),
        pytest.param(
            given(CALL, started()),
            ChildEnded(NOW, ZERO, BELOW, "completed", 3),
            Plan([d.EndChild(ZERO, BELOW, "completed"), d.FinishNode(ZERO, "a")], NodeFinished(ZERO, 3)),
            id="a called run's end finishes the node",
        ),
        pytest.param(
            given(GATE, started()),
            AnswerGate(NOW, "m", 3, token=ZERO),
            Plan(
                [
                    d.TakeAnswer(ZERO, "a", GateAnswer(3)),
                    d.ReplyTo("m", accepted=True),
                    d.FinishNode(ZERO, "a"),
                ],
                NodeFinished(ZERO, 3),
            ),
            id="an answer is taken",
        ),
        pytest.param(
            given(SIGNAL, started()),
            SignalRun(NOW, "m", "go", 3),
            Plan(
                [
                    d.KeepSignal(0, "go", NOW, 3),
                    d.TakeSignal(ZERO, "go", 0),
                    d.ReplyTo("m", accepted=True),
                    d.FinishNode(ZERO, "a"),
                ],
                NodeFinished(ZERO, 3),
            ),
            id="a signal wakes who waits for it",
        ),
        pytest.param(RUNNING, PauseRun(NOW), Plan([d.SetPaused(paused=True)]), id="a run is paused"),
        pytest.param(given(TASK, started(), PauseRun(1)), PauseRun(NOW), Plan([]), id="once"),
        pytest.param(
            given(TASK, started(), PauseRun(1)), UnpauseRun(NOW), Plan([d.SetPaused(paused=False)]), id="and goes on"
        ),
        pytest.param(RUNNING, UnpauseRun(NOW), Plan([]), id="one that is not paused goes on anyway"),
        pytest.param(
            given(TASK, started(), PauseRun(1)),
            done(0),
            Plan([d.FinishNode(ZERO, "a", "task")], NodeFinished(ZERO, None)),
            id="in a run that is paused results are still taken",
        ),
        pytest.param(
            RUNNING,
            ForkRun(NOW, RunId("old"), 3, 4, {"state.x": 1}, credits=2),
            Plan([d.ForkHistory(NOW, RunId("old"), 3, 5, None, {"state.x": 1}, 2)]),
            id="a fork goes on where the other run was, as if no time had passed",
        ),
        pytest.param(
            given(TIMED, started()),
            ForkRun(NOW, RunId("old"), 3, 99),
            Plan([d.ForkHistory(NOW, RunId("old"), 3, 0, NOW + 100)]),
            id="with its whole time again; and time never runs backwards",
        ),
        pytest.param(
            before(d.EndRun, FLOW, started(), failed(0)),
            ForkRun(NOW, RunId("old"), 3, NOW, again=True),
            Plan(
                [
                    d.ForkHistory(NOW, RunId("old"), 3, 0),
                    d.ReopenNodes(("a",), ("b",), {"b": 1}),
                    d.CreateToken(ONE, "a", "root"),
                ]
            ),
            id="a retry does a flow's failed nodes again",
        ),
        pytest.param(
            before(d.EndRun, FLOW, started(), failed(0)),
            ForkRun(NOW, RunId("old"), 3, NOW),
            Plan([d.ForkHistory(NOW, RunId("old"), 3, 0)]),
            id="a fork that is no retry does not",
        ),
        pytest.param(
            given(TASK, started(credits=1)), CreditsGranted(NOW, 4), Plan([d.TakeCredits(4)]), id="credits come"
        ),
        pytest.param(RUNNING, CreditsGranted(NOW, 4), Plan([]), id="a run without a purse takes none"),
        pytest.param(
            given(TASK, started(credits=9)),
            CreditsAsked(NOW, BELOW, 4),
            Plan([d.LendCredits(BELOW, 4)]),
            id="a run below is lent some",
        ),
        pytest.param(
            given(TASK, started(credits=9), CreditsAsked(1, BELOW, 4)),
            CreditsClosed(NOW, BELOW, 1),
            Plan([d.ReclaimCredits(BELOW, 1)]),
            id="and brings back the rest",
        ),
        pytest.param(
            given(TASK, started(credits=9)),
            CreditsEnded(NOW),
            Plan([d.DeclareShort(0)]),
            id="a caller's lack is its own",
        ),
        pytest.param(
            RUNNING,
            TriggerHeard(NOW, "go", 1, RunId("x"), "too_deep", "p"),
            Plan([d.NoteFiring("go", 1, RunId("x"), "too_deep", "p")]),
            id="what a trigger made of its event is kept",
        ),
        pytest.param(RUNNING, AlarmRang(NOW), Plan([]), id="what an alarm means follows as cues"),
        pytest.param(RUNNING, ContinueRun(NOW), Plan([]), id="so does what is left to do"),
    ],
)
def test_a_message(run: Given, message: Message, then: Plan) -> None:
    assert plan_run(run.program, run.state(), message) == then


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(StartRun(NOW, {}), id="a start"),
        pytest.param(done(0), id="a result"),
        pytest.param(CancelRun(NOW, "enough"), id="a cancellation"),
        pytest.param(AlarmRang(NOW), id="an alarm"),
        pytest.param(SignalRun(NOW, "m", "go"), id="a signal"),
        pytest.param(AnswerGate(NOW, "m", 1, token=ZERO), id="an answer"),
        pytest.param(ForkRun(NOW, RunId("old"), 3, 4), id="a fork"),
    ],
)
def test_after_its_end_a_message_changes_nothing(message: Message) -> None:
    assert plan_run(TASK, given(TASK, started(), done(0)).state(), message) == Plan([])


def losses(run: Given, count: int, token: TokenId = ZERO) -> Given:
    return given(run.program, *run.messages, *[TaskLost(8, token, 1)] * count)


def test_a_task_is_given_to_so_many_workers_and_no_more() -> None:
    last = losses(RUNNING, MAX_DELIVERIES - 2)
    assert plan_run(TASK, last.state(), TaskLost(NOW, ZERO, 1)).decisions == [
        d.RedeliverToken(ZERO, "a", NOW, NOW + 1000, 1, MAX_DELIVERIES)
    ]
    node, routed, end = plan_run(TASK, losses(RUNNING, MAX_DELIVERIES - 1).state(), TaskLost(NOW, ZERO, 1)).decisions
    assert isinstance(node, d.FailNode)
    assert isinstance(end, d.EndRun)
    assert end.error is not None
    assert (node.error["type"], routed, end.error.type) == (
        "worker_lost",
        d.RouteToken(ZERO, "a", "failed"),
        "worker_lost",
    )
    assert end.error.message.startswith(f"{MAX_DELIVERIES} workers got this task, and each ended or stopped answering")


def test_an_abandoned_task_that_loses_its_workers_ends_and_fails_nothing() -> None:
    state = losses(ABANDONED, MAX_DELIVERIES - 1, TWO).state()
    assert plan_run(RACE, state, TaskLost(NOW, TWO, 1)).decisions == [d.RouteToken(TWO, "a", "failed")]


def test_a_task_that_asks_for_it_is_tried_again_and_paid_once() -> None:
    paid = given(PATIENT, started(credits=9), TaskNoted(1, ZERO, 1, CostNote("s", 0)))
    (again,) = plan_run(PATIENT, paid.state(), failed(0, ASKS)).decisions
    assert isinstance(again, d.RetryToken)
    settled, *rest = plan_run(PATIENT, paid.state(), failed(0)).decisions
    assert settled == d.SettleCredits(ZERO, "a", 0, refund=1)
    assert isinstance(rest[0], d.FailNode)


def test_a_result_is_settled_with_what_it_used() -> None:
    paid = given(PATIENT, started(credits=9), TaskNoted(1, ZERO, 1, CostNote("s", 3)))
    assert plan_run(PATIENT, paid.state(), done(0, 1)) == Plan(
        [d.SettleCredits(ZERO, "a", 3, shortfall=2), d.FinishNode(ZERO, "a", "task")], NodeFinished(ZERO, 1)
    )


@pytest.mark.parametrize(
    ("run", "message"),
    [
        pytest.param(RUNNING, TaskStarted(NOW, ONE, 1), id="of a token that has ended"),
        pytest.param(RUNNING, TaskStarted(NOW, ZERO, 2), id="of another attempt"),
        pytest.param(given(TASK, started(), TaskStarted(1, ZERO, 1)), TaskStarted(NOW, ZERO, 1), id="twice"),
    ],
)
def test_a_beginning_that_is_old_news(run: Given, message: TaskStarted) -> None:
    assert plan_started(run.program, run.state(), message) == []


JOIN = workflow("""
nodes: {s: {}, a: {task: work}, end: {task: work}}
transitions: [{from: s, to: a, spawn_count: 1}, {from: a, to: end, synchronization: {}}]
""")


@pytest.mark.parametrize(
    ("run", "cue", "then"),
    [
        pytest.param(
            at("a", TASK, started()),
            TokenReady(ZERO),
            [d.DispatchToken(ZERO, "a", NOW, NOW + 1000)],
            id="a token that is ready begins its node",
        ),
        pytest.param(RUNNING, TokenReady(ZERO), [], id="one that has begun does not begin again"),
        pytest.param(RUNNING, TokenReady(ONE), [], id="nor does one that has ended"),
        pytest.param(
            before(d.SettleSlot, JOIN, started(), done(1)),
            SlotQuiet(slot(0, 0)),
            [d.SettleSlot(slot(0, 0), NOW, "end", 1)],
            id="a branch in which nothing moves settles",
        ),
        pytest.param(
            before(d.OpenFanIn, JOIN, started(), done(1)),
            GroupChanged(GroupId(0)),
            [
                d.OpenFanIn(GroupId(0), "end", ((0, 0),), ((1, 1),)),
                d.CreateToken(TWO, "end", "root", ZERO),
            ],
            id="a group that changed may open its fan-in",
        ),
        pytest.param(
            RUNNING,
            TimerDue(ZERO),
            [d.RedeliverToken(ZERO, "a", NOW, NOW + 1000, 1, 1)],
            id="a time that has come is for who waits for it",
        ),
    ],
)
def test_a_cue(run: Given, cue: Cue, then: list[d.Decision]) -> None:
    assert plan_cue(run.program, run.state(), cue, NOW).decisions == then


@pytest.mark.parametrize(
    ("run", "then"),
    [
        pytest.param(given(TASK), [], id="a run that has not begun is not over"),
        pytest.param(RUNNING, [], id="nor is one in which somebody works"),
        pytest.param(given(GATE, started()), [], id="or waits"),
        pytest.param(
            before(d.EndRun, TASK, started(), done(0)),
            [d.EndRun(NOW, "completed", {})],
            id="with its last token it is",
        ),
        pytest.param(
            before(d.DeclareShort, TASK, started(credits=0)),
            [d.DeclareShort(1)],
            id="one that waits to be paid for is looked at for what it lacks",
        ),
    ],
)
def test_a_run_in_which_nothing_moves(run: Given, then: list[d.Decision]) -> None:
    assert plan_idle(run.program, run.state(), NOW) == then
