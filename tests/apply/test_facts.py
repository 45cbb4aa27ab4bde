"""The facts of each decision, and how many they are."""

from typing import get_args

import pytest

from jeton.apply.record import count_events, facts_of
from jeton.model import decision as d
from jeton.model import event as ev
from jeton.model.chat import TokenUsage, ToolCall, ToolError, ToolResult
from jeton.model.decision import Decision
from jeton.model.event import Fact
from jeton.model.failure import BrokenInvariant, RunError, TaskFailed
from jeton.model.ids import GroupId, RunId, TokenId
from jeton.model.note import CostNote, LogNote, MissingNote, ProgressNote, RetryNote, TokensNote
from jeton.model.state.flow_run import Executed, WaitingNode
from jeton.model.state.phase import GateAnswer
from jeton.model.state.run import FiredBy, Parent, Segment
from jeton.model.state.talk import Caller, CallResult, Given, Move, Said, TurnError

T, U, G, CHILD = TokenId(1), TokenId(2), GroupId(0), RunId("r.1")
FAILED = TaskFailed("boom", "it broke")
ERROR = RunError("boom", "it broke")
TURN_ERROR = TurnError("boom", "it broke")
FIRED = FiredBy("event", 1, "nightly", source="s")
WHERE = (T, "a", 2)

RUN: list[tuple[Decision, list[Fact]]] = [
    (d.BeginRun(1, 5), [ev.RunSubmitted(5), ev.RunStarted()]),
    (
        d.BeginRun(1, 5, trigger=FIRED),
        [ev.RunSubmitted(5), ev.TriggerFired("event", 1, "nightly", "s"), ev.RunStarted()],
    ),
    # a child was called, not fired: its trigger is that of the run at the top
    (d.BeginRun(1, 5, None, Parent(RunId("p"), T, RunId("p"), 1), FIRED), [ev.RunSubmitted(5), ev.RunStarted()]),
    (d.SetStatus("waiting"), [ev.RunWaiting()]),
    (d.SetStatus("running"), [ev.RunResumed()]),
    (d.SetPaused(True), [ev.RunPaused()]),
    (d.SetPaused(False), [ev.RunUnpaused()]),
    (d.NoteFiring("t", 2, CHILD), [ev.TriggerFired("event", 2, "t", started=CHILD)]),
    (d.NoteFiring("t", 2, code="too_deep", problem="too deep"), [ev.TriggerRefused("t", "too_deep", "too deep")]),
    (d.ReplyTo("m", True), []),
    (d.EndRun(1, "completed", 5), [ev.RunCompleted(5)]),
    (d.EndRun(1, "failed", error=ERROR), [ev.RunFailed(ERROR)]),
    (d.EndRun(1, "cancelled", error=ERROR), [ev.RunCancelled(ERROR)]),
    (d.EndRun(1, "timed_out", error=ERROR), [ev.RunTimedOut(ERROR)]),
    (d.EndRun(1, "exhausted", error=ERROR), [ev.RunExhausted(ERROR)]),
    (d.ForkHistory(1, CHILD, 3, 0, writes={"state.a": 1}), [ev.RunForked(CHILD, 3, {"state.a": 1})]),
    (
        d.ForkHistory(1, CHILD, 3, 0, dropped=(TokenId(7),)),
        [ev.RunForked(CHILD, 3, {}), ev.TokenCancelled(TokenId(7), "its node is done again")],
    ),
]

TOKEN: list[tuple[Decision, list[Fact]]] = [
    (d.CreateToken(T, "a", "root"), [ev.TokenCreated(T, "a", "root")]),
    (d.CreateToken(T, "a", "root.a.3", U, (G, 3)), [ev.TokenCreated(T, "a", "root.a.3", U, 3)]),
    (
        d.CreateTokens((d.CreateToken(T, "a", "root"), d.CreateToken(U, "b", "root"))),
        [ev.TokenCreated(T, "a", "root"), ev.TokenCreated(U, "b", "root")],
    ),
    (d.DispatchToken(T, "a", 1, 9, 2), [ev.TokenDispatched(T), ev.TaskDispatched(T, "a", 2)]),
    (d.RedeliverToken(T, "a", 1, 9, 2, 3), [ev.TaskDispatched(T, "a", 2, 3)]),
    (d.SuspendToken(T, "a", 1, 9, "nap"), [ev.TokenWaiting(T, "timer", due=9), ev.TimerSet(T, 9, "nap")]),
    (d.WakeToken(T, "a", 1, 9, 2), [ev.TimerFired(T), ev.TokenDispatched(T), ev.TaskDispatched(T, "a", 2)]),
    (d.MarkExecuting(T, 1, 9), [ev.TokenExecuting(T)]),
    (d.NoteTask(*WHERE, ProgressNote("s", 0.5, "half")), [ev.TaskProgress(*WHERE, "s", 0.5, "half")]),
    (d.NoteTask(*WHERE, LogNote("s", "stdout", "hi", True)), [ev.TaskLog(*WHERE, "s", "stdout", "hi", True)]),
    (d.NoteTask(*WHERE, MissingNote("s", ("input.a",))), [ev.TaskMissing(*WHERE, "s", ("input.a",))]),
    (d.NoteTask(*WHERE, CostNote("s", 4)), [ev.TaskCost(*WHERE, "s", 4)]),
    (d.NoteTask(*WHERE, TokensNote("s", "p", 1, 2)), [ev.TaskTokens(*WHERE, "s", "p", 1, 2)]),
    (
        d.NoteTask(*WHERE, RetryNote("s", 2, 9, "boom", "it broke")),
        [ev.TaskRetrying(*WHERE, 9, TaskFailed("boom", "it broke", "s", transient=True), 2)],
    ),
    (
        d.RetryToken(T, "a", 1, 9, 2, FAILED),
        [ev.TaskRetrying(T, "a", 2, 9, FAILED), ev.TokenWaiting(T, "retry", due=9)],
    ),
    (d.FinishNode(T, "a"), []),
    (d.FinishNode(T, "a", "task"), [ev.TaskCompleted(T, "a")]),
    (d.FinishNode(T, "a", "timer"), [ev.TimerFired(T)]),
    (
        d.FinishNode(T, "a", "task", {"state.x": 1}),
        [ev.TaskCompleted(T, "a"), ev.ContextUpdated(T, {"state.x": 1})],
    ),
    (d.FinishNode(T, "a", None, {}, ("result.x",)), [ev.ContextUpdated(T, {}, ("result.x",))]),
    (d.FailNode(T, "a", {"type": "boom"}), [ev.TaskFailedAt(T, "a", {"type": "boom"})]),
    (d.RouteToken(T, "a"), []),
    (d.RouteToken(T, "a", "completed"), [ev.TokenCompleted(T)]),
    (d.RouteToken(T, "a", "failed"), [ev.TokenFailed(T)]),
    (d.RouteToken(T, "a", "timed_out"), [ev.TokenTimedOut(T)]),
    (d.EndTokens(((1, 2),), "cancelled", "why"), [ev.TokenCancelled(T, "why"), ev.TokenCancelled(U, "why")]),
    (d.AbandonTokens(((1, 1),)), []),
    (d.IgnoreLate(T, 2, "too late"), [ev.LateIgnored(T, 2, "too late")]),
]

GROUP: list[tuple[Decision, list[Fact]]] = [
    (d.OpenGroup(G, "g", "a", T, "root", 2, (Segment(0, 0, 2),)), [ev.FanOutStarted(G, "g", "a", 2)]),
    (d.ParkToken(T, G, "b", 1), [ev.TokenWaiting(T, "siblings", "b")]),
    (d.SettleSlot((G, 0), 1), []),
    (
        d.OpenFanIn(G, "b", ((0, 2),), ((1, 2),)),
        [ev.FanInOpened(G, "b", 3), ev.TokenCompleted(T), ev.TokenCompleted(U)],
    ),
    (d.MergeBranches(G, "b", "state.all", [1]), [ev.BranchesMerged(G, "b", "state.all")]),
    (d.TimeOutFanIn(G, "b"), [ev.SyncTimedOut(G, "b")]),
    (d.CloseGroup(G), []),
]

WAITS: list[tuple[Decision, list[Fact]]] = [
    (d.WaitForTimer(T, "a", 1, 9, "tea"), [ev.TokenWaiting(T, "timer", due=9), ev.TimerSet(T, 9, "tea")]),
    (
        d.CallWorkflow(T, "a", 1, CHILD, "w", deadline=9),
        [ev.TokenWaiting(T, "subworkflow", due=9), ev.ChildStarted(T, CHILD, "w")],
    ),
    (d.EndChild(T, CHILD, "completed"), [ev.ChildCompleted(T, CHILD)]),
    (d.EndChild(T, CHILD, "cancelled", ERROR), [ev.ChildCancelled(T, CHILD, "it broke")]),
    (d.EndChild(T, CHILD, "timed_out", ERROR), [ev.ChildFailed(T, CHILD, ERROR)]),
    (d.StopChild(T, CHILD, "why"), [ev.ChildCancelled(T, CHILD, "why")]),
    (
        d.AskInput(T, "a", 1, "How many?", {}, "s", 9),
        [ev.TokenWaiting(T, "gate", due=9), ev.GateOpened(T, "a", "How many?", 9)],
    ),
    (d.ContinueTask(T, "a", 1, 9, 2), [ev.TokenDispatched(T), ev.TaskDispatched(T, "a", 2)]),
    (
        d.ContinueTask(T, "a", 1, 9, 2, paused=True),
        [ev.TokenWaiting(T, "timer", due=1), ev.TimerSet(T, 1, "answered")],
    ),
    (d.OpenGate(T, "a", 1, "Sure?", 9), [ev.TokenWaiting(T, "gate", due=9), ev.GateOpened(T, "a", "Sure?", 9)]),
    (d.TakeAnswer(T, "a", GateAnswer("yes", "ann")), [ev.GateAnswered(T, "a", "yes", "ann")]),
    (d.KeepAnswer(0, "a", "root", GateAnswer("yes")), []),
    (d.TimeOutGate(T, "a"), [ev.GateTimedOut(T, "a")]),
    (d.WaitForSignal(T, "a", 1, "go", 9), [ev.TokenWaiting(T, "signal", due=9)]),
    (d.KeepSignal(0, "go", 1, 5, "k"), [ev.SignalReceived("go", 5, "k")]),
    (d.TakeSignal(T, "go", 0), []),
]

FLOW: list[tuple[Decision, list[Fact]]] = [
    (d.BeginNode(T, "a"), [ev.NodeStarted(T, "a")]),
    (
        d.HoldNode(T, "a", 1, WaitingNode(Executed({}), 9, "tea")),
        [ev.TokenWaiting(T, "timer", due=9), ev.TimerSet(T, 9, "tea")],
    ),
    (d.ExecuteNode(T, "a", Executed({"x": 1}, "yes")), [ev.NodeCompleted(T, "a", {"x": 1}, "yes")]),
    (
        d.ExecuteNode(T, "a", Executed({"error": 1}, "error", FAILED)),
        [ev.NodeCompleted(T, "a", {"error": 1}, "error", handled=FAILED)],
    ),
    (d.ExecuteNode(T, "a", Executed({}), waited=True), [ev.TimerFired(T), ev.NodeCompleted(T, "a", {})]),
    (
        d.ExecuteNode(T, "a", Executed({}, "no"), dead_end=True),
        [ev.NodeCompleted(T, "a", {}, "no", "nothing leaves by 'no': the path ends here")],
    ),
    (d.BreakNode(T, "a", FAILED), [ev.NodeFailed(T, "a", FAILED)]),
    (d.SettleNodes(("b", "c"), ("d",), {"e": 1}), [ev.NodeSkipped("b"), ev.NodeSkipped("c")]),
    (d.ReopenNodes(("a",), ("b",), {}), []),
]

CREDITS: list[tuple[Decision, list[Fact]]] = [
    (d.ReserveCredits(T, "a", 3), [ev.CreditsReserved(T, "a", 3)]),
    (d.SettleCredits(T, "a", 1, 2, 0), [ev.CreditsSettled(T, "a", 1, 2, 0)]),
    (d.AwaitCredits(), []),
    (d.AskForCredits(1, 5), [ev.CreditsRequested(5)]),
    (d.TakeCredits(5), [ev.CreditsReceived(5)]),
    (d.DeclareShort(5), [ev.CreditsShort(5)]),
    (d.LendCredits(CHILD, 5), [ev.CreditsLent(CHILD, 5)]),
    (d.ReclaimCredits(CHILD, 5), [ev.CreditsReturned(CHILD, 5)]),
    (d.UndoCall(T, "a"), []),
]

DONE, REFUSED = ToolResult("c", "look", 7), ToolResult("c", "look", error=ToolError("REFUSED", "no"))
TURN: list[tuple[Decision, list[Fact]]] = [
    (d.OpenConversation("bob"), [ev.ConversationOpened("bob")]),
    (
        d.AddTurn(1, "bob", Caller(user="ann"), Given(Said("hi", 5, "ann"))),
        [ev.MessageAdded(1, "ann", "hi"), ev.TurnQueued(1, "bob")],
    ),
    (d.RefuseChat(5, Caller(run=CHILD, token=T), TURN_ERROR), []),
    (d.BeginTurn(1, 5, 2), [ev.TurnStarted(1, 2)]),
    (d.PrepareTurn(1, recalled=("m",)), [ev.TurnPrepared(1, ("m",))]),
    (d.AskModel(1, 0), [ev.MoveStarted(1, 0)]),
    (d.RestartMove(1, 0, 2), [ev.MoveRestarted(1, 0, 2)]),
    (
        d.AddMove(1, 0, Move(text="Hello.", calls=(ToolCall("c", "look", 1),), profile="p", model="m", by="bob")),
        [
            ev.MoveCompleted(1, 0, "p", "m", TokenUsage(), 1),
            ev.MessageAdded(1, "bob", "Hello.", move=0),
            ev.ToolCalled(1, 0, 0, "look", 1),
        ],
    ),
    (d.AddMove(1, 0, Move(profile="p", model="m")), [ev.MoveCompleted(1, 0, "p", "m", TokenUsage(), 0)]),
    (
        d.AddMove(1, 0, Move(text="Hel", by="bob", interrupted=True)),
        [ev.MoveInterrupted(1, 0), ev.MessageAdded(1, "bob", "Hel", move=0, interrupted=True)],
    ),
    (d.UseScript("bob", (1,)), []),
    (d.AnswerCall(1, 0, 0, CallResult(DONE)), [ev.ToolAnswered(1, 0, 0, "look")]),
    (d.AnswerCall(1, 0, 0, CallResult(REFUSED)), [ev.ToolAnswered(1, 0, 0, "look", REFUSED.error)]),
    (d.HoldCall(T, 1, 0, 0), []),
    (d.StartAsync(1, 0, 0), [ev.ToolStarted(1, 0, 0)]),
    (d.KeepAsync(1, 0, 0, CallResult(DONE)), [ev.ToolAnswered(1, 0, 0, "look", later=True)]),
    (d.SteerTurn(1, Said("no", 5, "ann")), [ev.MessageAdded(1, "ann", "no"), ev.TurnSteered(1)]),
    (d.LingerTurn(1), [ev.TurnLingering(1)]),
    (d.ExtractTurn(1), [ev.TurnExtracting(1)]),
    (d.FlagTurn(1, "truncated"), [ev.TurnFlagged(1, "truncated")]),
    (d.AllowTool("pay"), [ev.ToolAllowed("pay")]),
    (d.EditCall(1, 0, 0, 5), [ev.InputEdited(1, 0, 0, 5)]),
    (d.JoinConversation("amy"), [ev.AgentJoined("amy")]),
    (d.CallAgent(T, "a", 1, CHILD, "bob", Said("hi", 5)), [ev.AgentAsked(T, CHILD, "bob")]),
    (d.AddWaiters(1, ((CHILD, T),)), []),
    (d.StopAgent(T, CHILD, "why"), [ev.AgentStopped(T, CHILD, "why")]),
    (d.SpendBudget(1, 5), []),
    (d.AskBudget(1, 5, "2026-11-18", 7, 2), []),
    (d.TakeBudget(1, granted=True), []),
    (d.SettleBudget(1, 5), []),
    (d.ReturnBudget(5, "bob", "2026-11-18", 7), []),
    (d.RecallSimilar(1, ()), []),
    (d.AddBudget(1, 5), [ev.BudgetAdded(1, 5)]),
    (d.ShrinkWindow(3, "recent_turns"), [ev.WindowShrunk(3, "recent_turns")]),
    (d.ShortenResults(1, 4), [ev.ResultsShortened(1)]),
    (d.CompactTurn(1), [ev.TurnCompacting(1)]),
    (d.EndTurn(1, 5, "completed"), [ev.TurnCompleted(1)]),
    (d.EndTurn(1, 5, "failed", TURN_ERROR), [ev.TurnFailed(1, TURN_ERROR)]),
    (d.EndTurn(1, 5, "cancelled", TURN_ERROR), [ev.TurnCancelled(1, TURN_ERROR)]),
    (d.EndTurn(1, 5, "exhausted", TURN_ERROR), [ev.TurnExhausted(1, TURN_ERROR)]),
]

ROWS = (*RUN, *TOKEN, *GROUP, *WAITS, *FLOW, *CREDITS, *TURN)


@pytest.mark.parametrize(
    ("decision", "facts"), ROWS, ids=[f"{n} {type(row[0]).__name__}" for n, row in enumerate(ROWS)]
)
def test_the_facts_of_a_decision(decision: Decision, facts: list[Fact]) -> None:
    assert list(facts_of(decision)) == facts
    assert count_events([decision]) == len(facts)


def test_every_decision_and_every_fact_has_a_row() -> None:
    assert {type(decision) for decision, _ in ROWS} == set(get_args(Decision))
    assert {type(fact) for _, facts in ROWS for fact in facts} == set(get_args(Fact))


def test_a_run_does_not_end_as_running() -> None:
    with pytest.raises(BrokenInvariant):
        list(facts_of(d.EndRun(1, "running")))


def test_a_turn_does_not_end_as_active() -> None:
    with pytest.raises(BrokenInvariant):
        list(facts_of(d.EndTurn(1, 5, "active")))
