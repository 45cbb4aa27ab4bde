"""The window: which turns a model is given, and when older ones leave it."""

import pytest
from msgspec.structs import replace

from jeton.model import decision as d
from jeton.model.chat import ToolMessage
from jeton.model.definition.agent import Persona
from jeton.model.json import Json
from jeton.model.transcript import messages_of
from jeton.planning.turns.window import compaction_input, estimate, is_full, past_recent, plan_compaction, plan_window
from tests.planning.talking import (
    BOB,
    NOW,
    Step,
    agent,
    call,
    chat,
    child_ends,
    model_fails,
    nodes,
    returns,
    says,
    talk,
    texts,
)

RECENT = agent("recent_turns: 2")
NARROW = "{provider: scripted, context_window: 2500, parameters: {max_tokens: 20}, script: [{text: Hello.}]}"
SMALL = agent("compaction: child", profile=NARROW)
LONG = "long " * 500


def said(count: int) -> list[Step]:
    """As many turns, each with its number."""
    return [step for number in range(count) for step in (chat(f"q{number}"), says(f"a{number}"))]


@pytest.mark.parametrize(
    ("count", "left"),
    [
        pytest.param(2, None, id="as many as may stay"),
        pytest.param(3, 2, id="one more: the older half leaves at once"),
    ],
)
def test_turns_past_the_recent_ones_leave(count: int, left: int | None) -> None:
    told = talk(RECENT, *said(count), chat("now"))
    assert [shrink.upto for shrink in told.made(d.ShrinkWindow)] == ([] if left is None else [left])


def test_between_two_such_steps_each_request_begins_with_the_one_before() -> None:
    told = talk(RECENT, *said(3), chat("now"))
    first = texts(told.state(), 4)
    assert first == ["user: q2", "assistant: a2", "user: now"]
    second = texts(told.then(says("ok"), chat("then")).state(), 5)
    assert second[: len(first)] == first


def test_past_recent_counts_turns_that_have_ended() -> None:
    state = talk(BOB, *said(3)).state()
    persona = Persona("helper", "fake")
    assert past_recent(state.talk, replace(persona, recent_turns=3)) is None
    assert past_recent(state.talk, replace(persona, recent_turns=1)) == 2


def test_a_window_without_a_limit_is_never_full() -> None:
    state = talk(BOB, chat(LONG * 100)).state()
    assert BOB.talk is not None
    bob = BOB.talk.agents["bob"]
    assert not is_full(state.talk, state.talk.turns[1], bob)
    assert estimate(state.talk, state.talk.turns[1], bob) > 10_000
    assert plan_window(BOB, state, state.talk.turns[1], NOW) is None


def test_before_a_call_would_fill_the_window_older_turns_are_summarised() -> None:
    told = talk(SMALL, chat(LONG), says(LONG), chat("two"), says("2"), chat(LONG))
    assert nodes(told.state()) == ["compaction"]
    (create,) = told.made(d.CreateToken)
    assert create.path == "turn.3.2"
    done = told.then(child_ends("compaction", {"summary": "s"}))
    assert list(done.state().talk.turns) == [3]
    assert nodes(done.state()) == ["model"]


def test_a_summary_is_made_of_the_one_before_it_and_the_turns() -> None:
    told = talk(SMALL, chat(LONG), says(LONG), chat(LONG), child_ends("compaction", {"summary": "s"}), says(LONG))
    assert told.state().talk.head.summary == "s"
    state = told.state()
    given = compaction_input(state, 2)
    turn: Json = {"turn": 2, "message": LONG, "moves": [{"text": LONG, "tools": []}]}
    assert given == {"turns": [turn], "summary": "s"}


def test_the_running_turn_is_never_summarised() -> None:
    told = talk(SMALL, chat(LONG * 5))
    assert nodes(told.state()) == ["model"]
    state = told.state()
    assert plan_compaction(SMALL, state, state.talk.turns[1]) is None


def test_a_provider_that_says_too_long_compacts_and_then_the_turn_fails() -> None:
    told = talk(agent("compaction: child"), chat("one"), says("1"), chat("two"), model_fails("context_too_long"))
    assert nodes(told.state()) == ["compaction"]
    again = told.then(child_ends("compaction", {"summary": "s"}))
    assert nodes(again.state()) == ["model"]
    (end,) = again.then(model_fails("context_too_long")).made(d.EndTurn)
    assert end.error is not None
    assert end.error.type == "context_too_long"


def test_what_a_provider_counted_is_taken_before_what_is_estimated() -> None:
    assert SMALL.talk is not None
    bob = SMALL.talk.agents["bob"]
    told = talk(SMALL, chat("hi"), says("", call("look"), tokens=700))
    state = told.then(returns("tool:look", "x" * 400)).state()
    assert 800 <= estimate(state.talk, state.talk.turns[1], bob) <= 850
    assert nodes(told.then(returns("tool:look", LONG)).state()) == ["model"]
    state = talk(SMALL, chat("hi"), says("Hello.", tokens=1990), chat("two")).state()
    assert nodes(state) == ["compaction"]


BIG = "x" * 4000
READ = talk(SMALL, chat("one"), says("", call("look")), returns("tool:look", BIG), says("1"), chat("two"))


def test_old_results_are_shortened_first_and_that_may_be_enough() -> None:
    told = READ.then(says("", call("look")), returns("tool:look", BIG))
    assert told.made(d.ShortenResults) != []
    assert told.made(d.CompactTurn) == []
    old, new = (each.results[0].result for each in messages_of(told.state().talk, 2) if isinstance(each, ToolMessage))
    assert isinstance(old, dict)
    assert new == BIG


def test_without_large_results_older_turns_are_summarised_at_once() -> None:
    told = talk(SMALL, chat(LONG), says(LONG), chat(LONG))
    assert (told.made(d.ShortenResults), nodes(told.state())) == ([], ["compaction"])


def test_a_provider_that_says_too_long_has_results_shortened_also_without_older_turns() -> None:
    told = talk(BOB, chat("one"), says("", call("look")), returns("tool:look", BIG), says("", call("look")))
    told = told.then(returns("tool:look", 1), model_fails("context_too_long"))
    assert (nodes(told.state()), len(told.made(d.ShortenResults))) == (["model"], 1)
    assert told.then(model_fails("context_too_long")).made(d.EndTurn) != []


def test_a_request_that_was_compacted_in_time_and_is_too_long_all_the_same_is_compacted_once_more() -> None:
    told = talk(SMALL, chat(LONG), says(LONG), chat(LONG), child_ends("compaction", {"summary": "s"}), says("2"))
    again = told.then(chat("three"), model_fails("context_too_long"))
    assert nodes(again.state()) == ["compaction"]


def test_what_was_left_out_is_said_also_before_a_summary() -> None:
    told = talk(SMALL, chat(LONG), says(LONG), chat(LONG), child_ends("compaction", status="failed"), says(LONG))
    told = told.then(chat(LONG), child_ends("compaction", {"summary": "s"}))
    assert [text.split(":")[0] for text in texts(told.state(), 3)[:2]] == ["user", "user"]
    assert texts(told.state(), 3)[0] == "user: (Earlier turns of this conversation are left out here.)"


def test_calls_and_results_stay_together_when_turns_leave() -> None:
    told = talk(RECENT, chat("q"), says("", call("look")), returns("tool:look", 1), says("a"), *said(2), chat("now"))
    assert list(told.state().talk.turns) == [3, 4]
    assert told.state().talk.results == {}
