"""What decisions about turns change, and what they refuse."""

import pytest
from msgspec.structs import replace

from jeton.apply.fold import fold
from jeton.model import decision as d
from jeton.model.chat import AssistantMessage, ToolCall, ToolError, ToolResult, UserMessage
from jeton.model.cue import TurnMoved
from jeton.model.effect import SendMessage, StartTask
from jeton.model.failure import BrokenInvariant
from jeton.model.ids import RunId
from jeton.model.message import ChatSent, StartRun, StopTurn, TurnOver
from jeton.model.state.phase import WaitingForAgent
from jeton.model.state.talk import Caller, CallResult, Given, Move, Said, Turn, TurnError
from jeton.model.transcript import messages_of
from tests.apply.folding import BEGIN, CREATE, NOW, RUN, T0, Folded

CALLS = (ToolCall("c0", "look"), ToolCall("c1", "slow"))
OPEN = (BEGIN, d.OpenConversation("bob"))
ADD = d.AddTurn(1, "bob", Caller(user="ann"), Given(Said("hi", 5, "ann")), "k")
ADDED = (*OPEN, ADD)
BEGUN = (*ADDED, d.BeginTurn(1, 20, 3))
PREPARED = (*BEGUN, d.PrepareTurn(1, (UserMessage("time"),)))
ASKED = (*PREPARED, d.AskModel(1, 0))
MOVED = (*ASKED, d.AddMove(1, 0, Move(text="Wait.", calls=CALLS, by="bob")))
ANSWERED = (*MOVED, d.AnswerCall(1, 0, 0, CallResult(ToolResult("c0", "look", 1))))
STARTED = (*ANSWERED, d.StartAsync(1, 0, 1))
LATER = CallResult(ToolResult("c1", "slow", 2))
CAME = (*STARTED, d.KeepAsync(1, 0, 1, LATER))


def turn(*decisions: d.Decision, number: int = 1) -> Turn:
    return Folded(*decisions).state.talk.turns[number]


def test_a_turn_is_queued_with_its_message_and_its_key() -> None:
    talk = Folded(*ADDED).state.talk
    assert (talk.turns[1].phase, talk.given[1].said.text, talk.turn_of_key("k")) == ("queued", "hi", 1)
    assert talk.turn_of_key("other") is None


def test_a_turn_begins_with_a_version_and_a_place_in_the_window() -> None:
    begun = turn(*BEGUN)
    assert (begun.phase, begun.version, begun.order, begun.began_at) == ("assembling", 3, 0, 20)
    assert Folded(*BEGUN).head.version == 3


def test_what_assembly_gave_stays_with_the_message() -> None:
    talk = Folded(*PREPARED).state.talk
    assert (talk.turns[1].phase, talk.given[1].context) == ("deciding", (UserMessage("time"),))
    assert Folded(*BEGUN, d.PrepareTurn(1, tainted=True)).state.talk.turns[1].tainted


def test_the_model_is_asked_with_what_stands_before_its_answer() -> None:
    asked = turn(*PREPARED, d.AskModel(1, 0, (UserMessage("more"),), latest="more"))
    assert (asked.asking, asked.asked, asked.latest) == (True, (UserMessage("more"),), "more")


def test_a_move_keeps_what_stood_before_it() -> None:
    run = Folded(*PREPARED, d.AskModel(1, 0, (UserMessage("more"),)), d.AddMove(1, 0, Move(text="ok")))
    move, moved = run.state.talk.moves[1, 0], run.state.talk.turns[1]
    assert (move.before, move.order) == ((UserMessage("more"),), 1)
    assert (moved.phase, moved.moves, moved.asked, moved.asking) == ("executing", 1, (), False)


def test_what_is_said_while_the_model_is_asked_stands_behind_its_answer() -> None:
    other = d.AddTurn(2, "bob", Caller(), Given(Said("two", 5)))
    lingers = (*CAME, d.LingerTurn(1), other, d.BeginTurn(2, 20, 3), d.PrepareTurn(2), d.AskModel(2, 0))
    note = d.AddMove(1, 1, Move(before=(UserMessage("it was stopped"),), interrupted=True))
    asked = messages_of(Folded(*lingers).state.talk, 2)
    assert messages_of(Folded(*lingers, note).state.talk, 2) == asked  # a redelivered call has the same input
    talk = Folded(*lingers, note, d.AddMove(2, 0, Move(text="2", by="bob"))).state.talk
    assert messages_of(talk, 2) == [*asked, AssistantMessage("2"), UserMessage("it was stopped")]


def test_every_change_of_a_turn_has_its_next_step_planned() -> None:
    for decisions in (ADDED, BEGUN, PREPARED, ASKED, MOVED, ANSWERED, STARTED, CAME):
        assert TurnMoved(1) in Folded(*decisions).draft.urgent


def test_a_result_is_kept_with_its_call() -> None:
    assert Folded(*ANSWERED).state.talk.results[1, 0, 0].result.result == 1


def test_a_result_from_an_untrusted_source_taints_the_turn() -> None:
    answer = d.AnswerCall(1, 0, 0, CallResult(ToolResult("c0", "look", 1)), taints=True)
    assert turn(*MOVED, answer).tainted
    assert turn(*STARTED, d.KeepAsync(1, 0, 1, LATER, taints=True)).tainted


def test_an_async_call_is_acknowledged_and_its_result_kept_until_the_model_is_told() -> None:
    talk = Folded(*STARTED).state.talk
    assert talk.results[1, 0, 1].result.result == {"status": "started", "call": "c1"}
    assert talk.turns[1].background == ((1, 0, 1),)
    talk = Folded(*CAME).state.talk
    assert (talk.turns[1].background, talk.turns[1].came, talk.came) == ((), ((1, 0, 1),), {(1, 0, 1): LATER})
    told = Folded(*CAME, d.AskModel(1, 1, (UserMessage("it came"),), told=({"name": "slow", "result": 2},)))
    assert (told.state.talk.turns[1].came, told.state.talk.came) == ((), {})


def test_steering_is_kept_for_the_next_question() -> None:
    steered = (*MOVED, d.SteerTurn(1, Said("no", 30), "s"))
    assert turn(*steered).steered == (Said("no", 30),)
    assert Folded(*steered).state.talk.turn_of_key("s") == 1


@pytest.mark.parametrize(("decision", "phase"), [(d.LingerTurn(1), "lingering"), (d.ExtractTurn(1), "extracting")])
def test_the_phase_of_a_turn(decision: d.Decision, phase: str) -> None:
    assert turn(*ANSWERED, decision).phase == phase


def test_issues_are_kept_by_name() -> None:
    flagged = turn(*MOVED, d.FlagTurn(1, "truncated"), d.FlagTurn(1, "compaction_failed", "why"))
    assert flagged.issues == {"truncated": True, "compaction_failed": "why"}


def test_a_tool_that_was_approved_for_the_conversation_and_an_agent_that_joined_are_kept_once() -> None:
    twice = (d.AllowTool("pay"), d.AllowTool("pay"), d.JoinConversation("amy"), d.JoinConversation("amy"))
    head = Folded(*OPEN, *twice).state.talk.head
    assert (head.allowed, head.participants) == (("pay",), ("amy",))


def test_an_edited_input_is_kept_with_its_call() -> None:
    assert Folded(*MOVED, d.EditCall(1, 0, 0, {"q": 1})).state.talk.edits == {(1, 0, 0): {"q": 1}}


def test_the_entries_of_scripts_that_were_used() -> None:
    used = Folded(*ASKED, d.UseScript("amy", (4,)), d.AddMove(1, 0, Move(text="ok"), (0, 1))).state.talk.head.script
    assert used == {"amy": ((4, 4),), "bob": ((0, 1),)}


def test_a_caller_that_waits_is_told_the_end_of_the_turn() -> None:
    caller = Caller(run=RunId("p"), token=T0)
    add = replace(ADD, caller=caller)
    error = TurnError("boom", "x")
    run = Folded(*OPEN, add, d.EndTurn(1, 40, "failed", error, "so far"))
    assert run.effects == [SendMessage(RunId("p"), TurnOver(40, T0, RUN, 1, "failed", "so far", None, error))]
    assert (run.state.talk.turns[1].phase, run.state.talk.turns[1].error) == ("ended", error)
    assert Folded(*ADDED, d.EndTurn(1, 40, "completed")).effects == []


def test_callers_of_a_conversation_that_contradicts_itself_are_told() -> None:
    add = replace(ADD, caller=Caller(run=RunId("p"), token=T0))
    (effect,) = Folded(*OPEN, add, d.EndRun(40, "failed", broken=True)).effects
    assert isinstance(effect, SendMessage)
    assert isinstance(effect.message, TurnOver)
    assert (effect.run, effect.message.status) == ("p", "failed")


def test_a_caller_that_is_refused_is_told() -> None:
    caller, error = Caller(run=RunId("p"), token=T0), TurnError("unknown_agent", "x")
    run = Folded(*OPEN, d.RefuseChat(40, caller, error))
    assert run.effects == [SendMessage(RunId("p"), TurnOver(40, T0, RUN, 0, "failed", error=error))]


def test_turns_that_leave_the_window_take_everything_with_them() -> None:
    ended = (*CAME, d.EditCall(1, 0, 0, 7), d.EndTurn(1, 40, "completed"))
    run = Folded(*ended, d.ShrinkWindow(1, "compacted", "short"))
    talk = run.state.talk
    assert [talk.turns, talk.given, talk.moves, talk.results, talk.came, talk.edits] == [{}] * 6
    assert talk.head.summary == "short"
    assert talk.turn_of_key("k") == 1  # keys are kept for ever
    touched = run.draft.touched.rest.talk
    assert {
        ("turn", 1),
        ("given", 1),
        ("move", 1, 0),
        ("result", 1, 0, 0),
        ("came", 1, 0, 1),
        ("edit", 1, 0, 0),
    } <= touched


def test_turns_that_have_not_ended_stay() -> None:
    assert 1 in Folded(*CAME, d.LingerTurn(1), d.ShrinkWindow(1, "recent_turns")).state.talk.turns


def test_asking_an_agent_starts_its_conversation_and_says_something_in_one_commit() -> None:
    asked = d.CallAgent(T0, "a", 20, RunId("c"), "bob", Said("hi", 20, data={"n": 1}), deadline=70)
    run = Folded(BEGIN, CREATE, asked)
    assert run.token().phase == WaitingForAgent(20, RunId("c"), "bob", 70)
    assert run.due() == 70
    start, sent = run.effects
    assert isinstance(start, SendMessage)
    assert isinstance(sent, SendMessage)
    assert (start.run, sent.run) == ("c", "c")
    assert isinstance(start.message, StartRun)
    assert isinstance(sent.message, ChatSent)
    assert (sent.message.text, sent.message.key, sent.message.data) == ("hi", "r:0", {"n": 1})
    (again,) = Folded(BEGIN, CREATE, replace(asked, new=False)).effects
    assert again == SendMessage(sent.run, replace(sent.message, to="bob"))


def test_stopping_an_agent_stops_the_turn_of_this_token() -> None:
    asked = d.CallAgent(T0, "a", 20, RunId("c"), "bob", Said("hi", 20))
    (effect,) = Folded(BEGIN, CREATE, asked, d.StopAgent(T0, RunId("c"), "why")).effects
    assert effect == SendMessage(RunId("c"), StopTurn(NOW, run=RUN, token=T0, reason="why"))


def test_a_model_call_gets_its_input_from_the_conversation() -> None:
    run = Folded(*ASKED, d.CreateToken(T0, "model", "turn.1"), d.DispatchToken(T0, "model", 20, 90))
    (task,) = run.effects
    assert isinstance(task, StartTask)
    assert isinstance(task.input, dict)
    assert task.input["messages"] == [{"role": "user", "text": "time"}, {"role": "user", "text": "hi"}]
    assert task.speaker is not None
    assert (task.speaker.agent, task.speaker.turn, task.speaker.user) == ("bob", 1, "ann")


@pytest.mark.parametrize(
    ("given", "decision"),
    [
        pytest.param(OPEN, replace(ADD, turn=2), id="turns are numbered on"),
        pytest.param(OPEN, d.BeginTurn(1, 5, 1), id="a turn that is not there does not begin"),
        pytest.param((*ADDED, d.EndTurn(1, 5, "cancelled")), d.LingerTurn(1), id="an ended turn does not change"),
        pytest.param(PREPARED, d.AskModel(1, 3), id="questions are numbered on"),
        pytest.param(ASKED, d.AddMove(1, 3, Move()), id="moves are numbered on"),
        pytest.param(
            ANSWERED,
            d.AnswerCall(1, 0, 0, CallResult(ToolResult("c0", "look", error=ToolError("CANCELLED", "x")))),
            id="a call has one result",
        ),
        pytest.param((BEGIN, CREATE), d.StopAgent(T0, RunId("c"), "x"), id="only an agent that was asked is stopped"),
    ],
)
def test_a_decision_that_the_state_contradicts(given: tuple[d.Decision, ...], decision: d.Decision) -> None:
    run = Folded(*given)
    with pytest.raises(BrokenInvariant):
        fold(run.draft, decision)
