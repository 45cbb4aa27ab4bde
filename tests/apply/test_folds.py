"""What decisions change, by subject, and what they refuse: a decision that the state contradicts is our bug."""

import pytest

from jeton.apply.fold import fold
from jeton.model import decision as d
from jeton.model import message as m
from jeton.model.cue import GroupChanged, SlotQuiet, TokenReady
from jeton.model.effect import SendMessage, StartTask, StopTask
from jeton.model.failure import BrokenInvariant, TaskFailed
from jeton.model.ids import RunId, TokenId
from jeton.model.note import CostNote
from jeton.model.state.credits import ACCOUNT, Purse
from jeton.model.state.flow_run import Executed, WaitingNode
from jeton.model.state.phase import (
    Asking,
    Continuation,
    Dispatched,
    Executing,
    GateAnswer,
    Pending,
    Sleeping,
    WaitingForGate,
    WaitingForRetry,
    WaitingForSignal,
    WaitingForSubworkflow,
    WaitingForTimer,
)
from jeton.model.state.run import Arrived, FanIn, Signal, Slept
from tests.apply.folding import (
    ARRIVED,
    BEGIN,
    BORN_OF,
    CALLED,
    CHILD,
    CREATE,
    DISPATCHED,
    FANNED_OUT,
    GROUP,
    NOW,
    PARENT,
    PARKED,
    RUN,
    STARTED,
    T0,
    T1,
    T2,
    Folded,
    paying,
)

FAILED = TaskFailed("boom", "it broke")

# the run


def test_a_run_begins_with_its_input_and_its_deadline() -> None:
    run = Folded(d.BeginRun(10, {"n": 1}, 500))
    assert (run.head.status, run.head.started_at, run.state.input, run.due()) == ("running", 10, {"n": 1}, 500)


def test_a_child_that_ends_tells_its_parent() -> None:
    run = Folded(d.BeginRun(10, None, parent=BORN_OF), d.EndRun(40, "completed", 7))
    assert (run.head.status, run.head.result) == ("completed", 7)
    assert run.effects == [SendMessage(PARENT, m.ChildEnded(40, BORN_OF.token, RUN, "completed", 7))]


def test_a_child_that_its_parent_stopped_tells_nobody() -> None:
    assert Folded(d.BeginRun(10, None, parent=BORN_OF), d.EndRun(40, "cancelled", untold=True)).effects == []


def test_a_run_that_contradicts_itself_drops_everything_and_stops_its_tasks() -> None:
    run = Folded(*DISPATCHED, d.EndRun(40, "failed", broken=True))
    assert (run.state.tokens, run.head.alive, run.effects) == ({}, 0, [StopTask(T0, 1)])


def test_what_nobody_took_is_forgotten_with_the_run() -> None:
    run = Folded(BEGIN, d.KeepSignal(0, "go", 20, 5, "k"), d.EndRun(40, "completed"))
    assert (run.state.signals, run.state.heard) == ({"go": {}}, {})


def test_pausing_a_run_pauses_the_runs_it_called_and_holds_its_retries() -> None:
    assert Folded(*CALLED, d.SetPaused(True)).effects == [SendMessage(CHILD, m.PauseRun(NOW))]
    assert Folded(*CALLED, d.SetPaused(True), d.SetPaused(False)).effects == [SendMessage(CHILD, m.UnpauseRun(NOW))]
    assert Folded(*DISPATCHED, d.RetryToken(T0, "a", 30, 60, 2, FAILED), d.SetPaused(True)).due() is None


# tokens


def test_a_new_token_is_pending_and_ready() -> None:
    run = Folded(*STARTED)
    assert (run.token().phase, run.head.busy, run.head.alive) == (Pending(), 1, 1)
    assert list(run.draft.ready) == [TokenReady(T0)]


def test_a_token_that_is_dispatched_starts_its_task_with_the_runs_input() -> None:
    run = Folded(*DISPATCHED)
    assert (run.token().phase, run.head.executions, run.due()) == (Dispatched(20, 1020), 1, 1020)
    assert run.effects == [StartTask(T0, "a", 1, 1, {"n": 1}, 20, run.draft.state.facts)]


def test_a_redelivery_is_the_same_attempt_and_no_further_execution() -> None:
    run = Folded(*DISPATCHED, d.RedeliverToken(T0, "a", 30, 1030, 1, 2))
    assert (run.token().phase, run.head.executions) == (Dispatched(30, 1030, 2), 1)
    assert run.effects == [StartTask(T0, "a", 1, 2, {"n": 1}, 30, run.draft.state.facts)]


def test_a_task_that_sleeps_holds_no_worker_and_wakes_as_the_same_attempt() -> None:
    asleep = (*DISPATCHED, d.SuspendToken(T0, "a", 30, 60, "nap"))
    run = Folded(*asleep)
    assert (run.token().phase, run.head.busy, run.head.parked, run.due()) == (Sleeping(30, 60, "nap"), 0, 1, 60)
    assert (run.token().last_sleep, run.effects) == ("nap", [])
    woken = Folded(*asleep, d.WakeToken(T0, "a", 60, 1060, 1))
    assert (woken.token().phase, woken.token().slept) == (Dispatched(60, 1060), Slept("nap", 60))
    assert woken.effects == [StartTask(T0, "a", 1, 1, {"n": 1}, 60, woken.draft.state.facts)]


ASKING = (*DISPATCHED, d.AskInput(T0, "a", 30, "How many?", {"type": "integer"}, "s", 60))
TOLD = d.TakeAnswer(T0, "a", GateAnswer(7))


def test_a_task_that_asks_holds_no_worker_and_goes_on_with_the_answer_as_the_same_attempt() -> None:
    run = Folded(*ASKING)
    assert run.token().phase == Asking(30, "How many?", 60, schema={"type": "integer"})
    assert (run.token().continuation, run.head.busy, run.head.parked) == (Continuation(1, "s"), 0, 1)
    assert (run.due(), run.effects) == (60, [])
    told = Folded(*ASKING, TOLD, d.ContinueTask(T0, "a", 40, 1040, 1))
    left = Continuation(1, "s", 7)
    assert (told.token().phase, told.token().continuation, told.head.executions) == (Dispatched(40, 1040), left, 1)
    assert told.effects == [StartTask(T0, "a", 1, 1, {"n": 1}, 40, told.draft.state.facts, continuation=left)]
    lost = Folded(*ASKING, TOLD, d.ContinueTask(T0, "a", 40, 1040, 1), d.RedeliverToken(T0, "a", 50, 1050, 1, 2))
    assert lost.effects == [StartTask(T0, "a", 1, 2, {"n": 1}, 50, lost.draft.state.facts, continuation=left)]


def test_a_task_that_is_told_in_a_paused_run_sleeps_until_it_is_unpaused() -> None:
    told = (*ASKING, d.SetPaused(True), TOLD, d.ContinueTask(T0, "a", 40, 1040, 1, paused=True))
    run = Folded(*told)
    assert (run.token().phase, run.due(), run.effects) == (Sleeping(40, 40, "answered"), None, [])
    woken = Folded(*told, d.SetPaused(False), d.WakeToken(T0, "a", 90, 1090, 1))
    assert woken.token().continuation == Continuation(1, "s", 7)


def test_what_a_sleeping_task_wants_to_find_is_handed_to_it() -> None:
    asleep = (*DISPATCHED, d.SuspendToken(T0, "a", 30, 60, "nap", "s"), d.WakeToken(T0, "a", 60, 1060, 1))
    assert Folded(*asleep).token().continuation == Continuation(1, "s")
    again = Folded(*asleep, d.SuspendToken(T0, "a", 70, 90, "nap 2"))
    assert again.token().continuation == Continuation(2)


def test_a_new_attempt_finds_nothing() -> None:
    told = (*ASKING, TOLD, d.ContinueTask(T0, "a", 40, 1040, 1))
    assert Folded(*told, d.RetryToken(T0, "a", 50, 60, 2, FAILED)).token().continuation is None


def test_a_worker_that_began_keeps_the_count_of_deliveries() -> None:
    run = Folded(*DISPATCHED, d.RedeliverToken(T0, "a", 30, 1030, 1, 2), d.MarkExecuting(T0, 40, 1040))
    assert run.token().phase == Executing(40, 1040, 2)


def test_a_retry_waits_for_its_time_as_the_next_attempt() -> None:
    run = Folded(*DISPATCHED, d.RetryToken(T0, "a", 30, 60, 2, FAILED))
    assert (run.token().phase, run.token().attempt, run.due()) == (WaitingForRetry(30, 60), 2, 60)


def test_a_node_that_finishes_writes_and_clears_the_last_error() -> None:
    failed = d.CreateToken(T0, "a", "root", error={"type": "boom"})
    run = Folded(BEGIN, failed, d.FinishNode(T0, "a", None, {"state.x.y": 1, "output.z": 2}))
    assert (run.state.state, run.state.output, run.token().error) == ({"x": {"y": 1}}, {"z": 2}, None)
    assert run.draft.touched.state == {"x"}
    assert run.head.executions == 1


def test_a_node_that_fails_stops_its_task() -> None:
    assert Folded(*DISPATCHED, d.FailNode(T0, "a", {"type": "boom"})).effects == [StopTask(T0, 1)]


def test_a_token_that_is_routed_ends_or_stays() -> None:
    assert Folded(*DISPATCHED, d.RouteToken(T0, "a", "completed")).state.tokens == {}
    assert list(Folded(*DISPATCHED, d.RouteToken(T0, "a")).state.tokens) == [T0]


def test_tokens_that_are_ended_stop_their_tasks_and_quiet_their_slots() -> None:
    run = Folded(*FANNED_OUT, d.DispatchToken(T1, "b", 20, 1020), d.EndTokens(((1, 2),), "cancelled", "why"))
    assert (run.state.tokens, run.head.alive, run.effects) == ({}, 0, [StopTask(T1, 1)])
    assert list(run.draft.urgent) == [SlotQuiet((GROUP, 0)), SlotQuiet((GROUP, 1))]


def test_an_abandoned_token_leaves_its_slot_and_counts_no_more() -> None:
    run = Folded(*FANNED_OUT, d.DispatchToken(T1, "b", 20, 1020), d.AbandonTokens(((1, 1),)))
    assert (run.token(T1).abandoned, run.token(T1).slot, run.head.busy, run.head.alive) == (True, None, 1, 2)


def test_a_note_of_a_cost_is_kept_only_where_somebody_pays() -> None:
    note = d.NoteTask(T0, "a", 1, CostNote("s", 4))
    assert Folded(paying(9), CREATE, note).token().cost == 4
    assert Folded(*STARTED, note).token().cost is None


# groups


def test_a_fan_out_has_a_slot_for_each_branch() -> None:
    run = Folded(*FANNED_OUT)
    progress = run.state.progress[GROUP]
    assert (progress.live, progress.started, progress.flying) == (2, (2,), (2,))
    assert run.slots() == [(GROUP, 0), (GROUP, 1)]


def test_a_token_at_a_fan_in_is_kept_by_its_slot() -> None:
    run = Folded(*PARKED)
    slot = run.state.slots[GROUP, 0]
    assert (slot.reached, slot.waiting, T1 in run.state.tokens) == ((GROUP, "c", 1), (T1,), False)
    assert list(run.draft.urgent) == [SlotQuiet((GROUP, 0))]


def test_a_slot_that_arrives_brings_its_value_and_starts_the_clock_of_the_fan_in() -> None:
    run = Folded(*ARRIVED)
    assert run.state.progress[GROUP].fan_ins == {"c": FanIn(1, 1, 30, 90)}
    assert run.state.arrived[GROUP, "c", 0] == Arrived(((0, 0),), ((1, 1),), {0: "one"})
    assert (run.slots(), run.due(), list(run.draft.urgent)) == ([(GROUP, 1)], 90, [GroupChanged(GROUP)])


def test_a_fan_in_that_opens_forgets_its_slots_and_has_no_clock() -> None:
    run = Folded(*ARRIVED, d.EndTokens(((2, 2),), "cancelled", "why"), d.OpenFanIn(GROUP, "c", ((0, 0),), ((1, 1),)))
    assert (run.slots(), run.state.arrived, run.head.alive, run.due()) == ([], {}, 0, None)
    assert run.state.progress[GROUP].opened


def test_a_fan_in_that_timed_out_has_no_clock() -> None:
    run = Folded(*ARRIVED, d.TimeOutFanIn(GROUP, "c"))
    assert (run.state.progress[GROUP].fan_ins, run.due()) == ({"c": FanIn(1, 1, 30)}, None)


def test_branches_are_merged_into_the_state_or_the_branch_around() -> None:
    assert Folded(*ARRIVED, d.MergeBranches(GROUP, "c", "state.all", [1])).state.state == {"all": [1]}
    outer = Folded(*FANNED_OUT, d.MergeBranches(GROUP, "c", "state.all", [1], (GROUP, 1)))
    assert (outer.state.state, outer.state.slots[GROUP, 1].output) == ({}, {"all": [1]})


def test_a_group_that_closes_leaves_nothing() -> None:
    run = Folded(*ARRIVED, d.EndTokens(((2, 2),), "cancelled", "why"), d.CloseGroup(GROUP))
    assert (run.state.groups, run.state.progress, run.slots(), run.state.arrived) == ({}, {}, [], {})


# waits


def test_each_wait_has_its_phase_and_its_time() -> None:
    timer = Folded(*STARTED, d.WaitForTimer(T0, "a", 20, 60, "tea"))
    assert (timer.token().phase, timer.due()) == (WaitingForTimer(20, 60, "tea"), 60)
    gate = Folded(*STARTED, d.OpenGate(T0, "a", 20, "Sure?", 70))
    assert (gate.token().phase, gate.due()) == (WaitingForGate(20, "Sure?", 70), 70)
    signal = Folded(*STARTED, d.WaitForSignal(T0, "a", 20, "go"))
    assert (signal.token().phase, signal.due()) == (WaitingForSignal(20, "go", 0), None)
    assert signal.state.waiters == {"go": {T0: None}}


def test_a_call_starts_the_child_in_the_same_commit() -> None:
    run = Folded(*CALLED)
    assert (run.token().phase, run.due()) == (WaitingForSubworkflow(20, CHILD, "child", 70), 70)
    (effect,) = run.effects
    assert isinstance(effect, SendMessage)
    assert isinstance(effect.message, m.StartRun)
    assert (effect.run, effect.message.input, effect.message.workflow) == (CHILD, {"x": 1}, "child")


def test_a_child_that_is_stopped_is_cancelled_by_its_parent() -> None:
    cancel = m.CancelRun(NOW, "why", by_parent=True)
    assert Folded(*CALLED, d.StopChild(T0, CHILD, "why")).effects == [SendMessage(CHILD, cancel)]


def test_an_early_answer_is_kept_until_the_gate_takes_it() -> None:
    early = (*STARTED, d.KeepAnswer(0, "a", "root", GateAnswer("yes")))
    assert list(Folded(*early).state.early) == [0]
    run = Folded(*early, d.OpenGate(T0, "a", 20, "Sure?"), d.TakeAnswer(T0, "a", GateAnswer("yes"), 0))
    assert (run.state.early, run.token().phase) == ({}, WaitingForGate(20, "Sure?", None, (GateAnswer("yes"),)))


def test_a_signal_is_kept_until_it_is_taken_and_its_key_for_good() -> None:
    kept = (*STARTED, d.KeepSignal(0, "go", 20, 5, "k"))
    assert Folded(*kept).state.signals == {"go": {0: Signal(5)}}
    run = Folded(*kept, d.TakeSignal(T0, "go", 0))
    assert (run.state.signals, run.state.heard) == ({"go": {}}, {"k": 20})


# flows


def test_a_node_of_a_flow_goes_from_executing_to_executed_or_failed() -> None:
    begun = (*STARTED, d.BeginNode(T0, "a"))
    assert list(Folded(*begun).state.flow.executing) == ["a"]
    done = Folded(*begun, d.ExecuteNode(T0, "a", Executed({"x": 1}))).state.flow
    assert (done.executing, done.executed) == ({}, {"a": Executed({"x": 1})})
    broken = Folded(*begun, d.BreakNode(T0, "a", FAILED)).state.flow
    assert (broken.executing, broken.errors) == ({}, {"a": FAILED})


def test_a_node_that_waits_keeps_its_result() -> None:
    held = WaitingNode(Executed({"x": 1}), 60, "tea")
    waiting = (*STARTED, d.BeginNode(T0, "a"), d.HoldNode(T0, "a", 20, held))
    run = Folded(*waiting)
    assert (run.state.flow.waiting, run.token().phase) == ({"a": held}, WaitingForTimer(20, 60, "tea"))
    assert Folded(*waiting, d.ExecuteNode(T0, "a", held.executed, waited=True)).state.flow.waiting == {}


def test_a_handled_failure_stops_the_task_that_timed_out() -> None:
    late = TaskFailed("timed_out", "too late")
    handled = d.ExecuteNode(T0, "a", Executed({"error": {}}, "error", late))
    run = Folded(*DISPATCHED, d.BeginNode(T0, "a"), handled)
    assert run.effects == [StopTask(T0, 1)]
    assert run.state.flow.executed == {"a": handled.executed}


def test_what_ran_in_spite_of_a_failure_is_reopened() -> None:
    begun = (d.CreateToken(TokenId(0), "b", "root"), d.BeginNode(TokenId(0), "b"))
    ran = d.ExecuteNode(TokenId(0), "b", Executed({"x": 1}))
    for made in (begun, (*begun, ran), (*begun, d.BreakNode(TokenId(0), "b", TaskFailed("boom", "it broke")))):
        flow = Folded(*made, d.ReopenNodes((), (), {"b": 1}, ("b",))).state.flow
        assert (flow.executing, flow.executed, flow.errors, flow.remaining) == ({}, {}, {}, {"b": 1})


def test_nodes_are_settled_and_reopened() -> None:
    settled = (*STARTED, d.BeginNode(T0, "a"), d.BreakNode(T0, "a", FAILED), d.SettleNodes(("b",), (), {"c": 1}))
    flow = Folded(*settled).state.flow
    assert (list(flow.skipped), flow.remaining) == (["b"], {"c": 1})
    again = Folded(*settled, d.ReopenNodes(("a",), ("b",), {"b": 1, "c": 2})).state.flow
    assert (again.errors, again.skipped, again.remaining) == ({}, {}, {"c": 2, "b": 1})


# credits


def test_what_a_node_costs_is_taken_and_what_it_did_not_use_is_put_back() -> None:
    reserved = (paying(10), CREATE, d.ReserveCredits(T0, "a", 4))
    run = Folded(*reserved)
    assert (run.purse, run.token().reserved) == (Purse(free=6, used=4), 4)
    settled = Folded(*reserved, d.SettleCredits(T0, "a", 1, 3))
    assert (settled.purse, settled.token().reserved) == (Purse(free=9, used=1), 1)


def test_an_account_is_asked_and_what_it_lacked_is_remembered() -> None:
    asked = (paying(0, ACCOUNT), d.AwaitCredits(), d.AskForCredits(20, 5))
    run = Folded(*asked)
    assert run.effects == [SendMessage(ACCOUNT, m.CreditsAsked(20, RUN, 5))]
    assert run.purse == Purse(ACCOUNT, asked=5, awaiting=True)
    assert Folded(*asked, d.TakeCredits(3)).purse == Purse(ACCOUNT, free=3, dry=0)
    assert Folded(*asked, d.TakeCredits(5)).purse == Purse(ACCOUNT, free=5)


def test_a_run_that_is_short_tells_the_runs_it_called() -> None:
    called = d.CallWorkflow(T0, "a", 20, CHILD, "child")
    run = Folded(paying(0), CREATE, called, d.DeclareShort(2))
    assert run.purse.short
    assert run.effects == [SendMessage(CHILD, m.CreditsEnded(NOW))]
    assert Folded(paying(0), CREATE, called, d.UndoCall(T0, "a")).token().phase == Pending()


def test_what_is_lent_is_accounted_for_when_the_run_below_ends() -> None:
    lent = (paying(10), d.LendCredits(CHILD, 4))
    run = Folded(*lent)
    assert (run.purse, run.state.lent) == (Purse(free=6), {CHILD: 4})
    assert run.effects == [SendMessage(CHILD, m.CreditsGranted(NOW, 4))]
    assert Folded(*lent, d.ReclaimCredits(CHILD, 1)).purse == Purse(free=9, below=1)


def test_the_account_hears_what_a_run_used() -> None:
    run = Folded(paying(10, ACCOUNT), CREATE, d.ReserveCredits(T0, "a", 4), d.RouteToken(T0, "a", "completed"), END)
    assert run.effects == [SendMessage(ACCOUNT, m.CreditsClosed(40, RUN, 4))]


END = d.EndRun(40, "completed")

# forks


def test_a_fork_asks_again_for_what_was_under_way_in_its_own_name() -> None:
    fork = d.ForkHistory(200, RunId("other"), 3, 100, 900)
    task = Folded(*DISPATCHED, fork)
    assert task.effects == [StartTask(T0, "a", 1, 1, {"n": 1}, 200, task.draft.state.facts)]
    assert (task.token().phase, task.head.deadline) == (Dispatched(200, 1200), 900)
    child = Folded(*CALLED, fork)
    assert child.token().phase == WaitingForSubworkflow(200, CHILD, "child", 250)
    asking = Folded(*ASKING, fork)
    assert asking.token().phase == Asking(30, "How many?", 160, schema={"type": "integer"})
    told = Folded(*ASKING, TOLD, d.ContinueTask(T0, "a", 40, 1040, 1), fork)
    (started,) = told.effects
    assert isinstance(started, StartTask)
    assert started.continuation == Continuation(1, "s", 7)
    gate = Folded(*STARTED, d.OpenGate(T0, "a", 20, "Sure?", 70), fork)
    assert gate.token().phase == WaitingForGate(20, "Sure?", 170)


def test_a_fork_drops_what_it_does_again() -> None:
    fork = d.ForkHistory(200, RunId("other"), 3, 100, dropped=(T0,))
    for under_way in (DISPATCHED, CALLED):
        run = Folded(*under_way, fork)
        assert (run.state.tokens, run.effects, run.head.alive) == ({}, [], 0)


def test_with_an_edited_state_work_begins_anew() -> None:
    fork = d.ForkHistory(200, RunId("other"), 3, 100, writes={"state.x": 1})
    for under_way in (DISPATCHED, CALLED, (*DISPATCHED, d.SuspendToken(T0, "a", 30, 60, "nap", "s")), ASKING):
        run = Folded(*under_way, fork)
        assert run.token().continuation is None
        assert (run.token().phase, run.effects, run.state.state) == (Pending(), [], {"x": 1})
    waiting = Folded(*STARTED, d.WaitForTimer(T0, "a", 20, 60), fork)
    assert waiting.token().phase == WaitingForTimer(20, 60)


# what the state contradicts

REFUSED: tuple[tuple[str, tuple[d.Decision, ...]], ...] = (
    ("a run begins once", (BEGIN, BEGIN)),
    ("a run ends when no token is under way", (*STARTED, END)),
    ("after the end there is nothing", (BEGIN, END, d.SetPaused(True))),
    ("tokens are numbered in order", (BEGIN, d.CreateToken(T1, "a", "root"))),
    ("a slot begins in order", (*FANNED_OUT[:-1], d.CreateToken(T1, "b", "root.b.1", T0, (GROUP, 1)))),
    ("a token that has ended is not dispatched", (*STARTED, d.RouteToken(T0, "a", "completed"), DISPATCHED[-1])),
    ("a token is dispatched once", (*DISPATCHED, DISPATCHED[-1])),
    ("only what a worker has goes to sleep", (*STARTED, d.SuspendToken(T0, "a", 30, 60, "nap"))),
    ("only what sleeps is woken", (*DISPATCHED, d.WakeToken(T0, "a", 60, 1060, 1))),
    ("only what a worker has asks", (*STARTED, d.AskInput(T0, "a", 30, "How many?"))),
    ("only what asked is told", (*DISPATCHED, d.ContinueTask(T0, "a", 40, 1040, 1))),
    ("nothing goes on before it is told", (*ASKING, d.ContinueTask(T0, "a", 40, 1040, 1))),
    ("only what was dispatched begins", (*STARTED, d.MarkExecuting(T0, 30, 1030))),
    ("groups are numbered in order", (*STARTED, *FANNED_OUT[3:4], FANNED_OUT[3])),
    ("a token outside every branch waits for no sibling", (*STARTED, d.ParkToken(T0, GROUP, "c", 1))),
    ("a slot settles once", (*ARRIVED, d.SettleSlot((GROUP, 0), 40))),
    ("a fan-in that nobody reached takes no slots", (*FANNED_OUT, d.OpenFanIn(GROUP, "c", ((0, 0),)))),
    ("a fan-in that nobody reached has no clock", (*FANNED_OUT, d.TimeOutFanIn(GROUP, "c"))),
    ("a group closes once", (*STARTED, d.CloseGroup(GROUP))),
    ("only a child that is waited for is stopped", (*CALLED, d.StopChild(T0, RunId("r.9"), "why"))),
    ("only an open gate takes an answer", (*STARTED, d.TakeAnswer(T0, "a", GateAnswer("yes")))),
    ("early answers are numbered in order", (BEGIN, d.KeepAnswer(1, "a", "root", GateAnswer("yes")))),
    ("signals are numbered in order", (BEGIN, d.KeepSignal(1, "go", 20))),
    ("a signal is taken once", (*STARTED, d.TakeSignal(T0, "go", 0))),
    ("a node of a flow runs once", (*STARTED, d.BeginNode(T0, "a"), d.BeginNode(T0, "a"))),
    ("a node is paid for with what is there", (paying(1), CREATE, d.ReserveCredits(T0, "a", 4))),
    ("no more is put back than was taken", (paying(9), CREATE, d.SettleCredits(T0, "a", 0, 1))),
    ("who has no purse pays nothing", (*STARTED, d.ReserveCredits(T0, "a", 1))),
    ("a run of its own credits asks nobody", (paying(1), d.AskForCredits(20, 5))),
    ("no more is lent than is there", (paying(1), d.LendCredits(CHILD, 4))),
    ("a run below uses no more than it was lent", (paying(9), d.LendCredits(CHILD, 4), d.ReclaimCredits(CHILD, 5))),
    ("only a call that was made is undone", (paying(9), CREATE, d.UndoCall(T0, "a"))),
)


@pytest.mark.parametrize("decisions", [row[1] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_a_decision_that_the_state_contradicts(decisions: tuple[d.Decision, ...]) -> None:
    Folded(*decisions[:-1])
    with pytest.raises(BrokenInvariant):
        Folded(*decisions)


def test_a_message_that_is_taken_back_leaves_no_trace() -> None:
    run = Folded(*ARRIVED)
    before = Folded(*ARRIVED).state
    effects = run.draft.begin(NOW)
    for decision in (d.DispatchToken(T2, "b", 40, 1040), d.FinishNode(T2, "b", "task", {"state.x": 1})):
        fold(run.draft, decision)
    run.draft.roll_back(effects)
    for table in ("tokens", "slots", "progress", "arrived", "groups", "state", "output", "signals"):
        assert getattr(run.state, table) == getattr(before, table), table
    assert (run.state.head, run.effects) == (before.head, [])
