"""What stands before the model's next answer."""

from jeton.model import decision as d
from jeton.model.chat import UserMessage
from jeton.planning.turns.ask import LAST, LATER, NUDGE, notes_of, plan_ask
from tests.planning.talking import BOB, NOW, agent, call, chat, child_ends, fails, returns, says, talk, texts

ASKED = talk(BOB, chat("hi"))
SLOW = ASKED.then(says("On it.", call("slow"), call("slow")))


def test_the_first_question_has_nothing_before_it() -> None:
    (ask,) = ASKED.made(d.AskModel)
    assert ask == d.AskModel(1, 0)
    state = talk(BOB).state()
    assert state.tokens == {}


def test_what_the_turn_was_steered_with_is_in_the_next_request() -> None:
    told = ASKED.then(says("", call("look")), chat("wait", when_busy="steer"), returns("tool:look", 1))
    (ask,) = told.made(d.AskModel)
    assert (ask.before, ask.latest) == ((UserMessage("wait"),), "wait")


def test_results_of_async_calls_are_told_in_one_note_that_names_the_calls() -> None:
    told = SLOW.then(returns("tool:slow", 7))
    (ask,) = told.made(d.AskModel)
    assert ask.before == (UserMessage(f"{LATER}\n- call_1_0_0 (slow): 7"),)
    both = told.then(fails("tool:slow"), says("One came."))
    (ask,) = both.made(d.AskModel)
    (note,) = ask.before
    assert note.text.startswith(f'{LATER}\n- call_1_0_1 (slow): error {{"code":"EXECUTION_FAILED"')


def test_a_nudge_stands_behind_what_was_asked_before() -> None:
    told = SLOW.then(returns("tool:slow", 7), says())
    assert texts(told.state(), 1)[-2:] == [f"user: {LATER}\n- call_1_0_0 (slow): 7", f"user: {NUDGE}"]


def test_without_results_there_is_no_note() -> None:
    assert notes_of([]) == ([], [])


def test_the_last_question_says_so() -> None:
    told = talk(agent("max_moves_per_turn: 1"), chat(), says("", call("look")), returns("tool:look", 1))
    assert [ask.before for ask in told.made(d.AskModel)] == [(UserMessage(LAST),)]


def test_planning_a_question_creates_the_token_of_its_call() -> None:
    state = ASKED.then(says("", call("look"))).state()
    ask, create = plan_ask(BOB, state, state.talk.turns[1], NOW)
    assert isinstance(ask, d.AskModel)
    assert isinstance(create, d.CreateToken)
    assert (create.node, create.path) == ("model", "turn.1")


WEB = (chat("look it up"), says("", call("web")), returns("tool:web", "x"), says("Done."))


def test_a_turn_that_is_given_what_a_tainted_one_read_is_tainted_too() -> None:
    told = talk(BOB, *WEB, chat("and now?"))
    (ask,) = told.made(d.AskModel)
    assert (ask.turn, ask.tainted) == (2, True)
    assert told.state().talk.turns[2].tainted
    assert not talk(BOB, chat(), says("Hello."), chat("and now?")).state().talk.turns[2].tainted


def test_a_turn_that_has_left_the_window_taints_nobody() -> None:
    short = agent("recent_turns: 1")
    told = talk(short, chat("one"), says("1"), chat("two"), says("2"), chat("three"))
    assert not told.state().talk.turns[3].tainted
    # what it read is gone, but the turn after it may have repeated it
    assert talk(short, *WEB, chat("two"), says("2"), chat("three")).state().talk.turns[3].tainted


def test_a_summary_of_a_tainted_turn_taints_those_who_read_it() -> None:
    narrow = "{provider: scripted, context_window: 2500, parameters: {max_tokens: 20}, script: [{text: Hello.}]}"
    small = agent("compaction: child", profile=narrow)
    told = talk(small, *WEB, chat("long " * 2_000), child_ends("compaction", {"summary": "s"}))
    (shrink,) = told.made(d.ShrinkWindow)
    assert shrink.tainted
    assert told.state().talk.head.tainted
    assert told.state().talk.turns[2].tainted
