"""Context assembly: what a turn's first model call is given besides the window."""

import pytest

from jeton.model import decision as d
from jeton.model.chat import AssistantMessage, SystemMessage, UserMessage
from jeton.model.json import Json
from jeton.planning.turns.context import RECALLED, assembly_input, plan_assembled, plan_context, recall_input
from tests.planning.talking import BOB, NOW, agent, at_node, call, chat, child_ends, nodes, returns, says, talk, texts

ASSEMBLING = agent("context_assembly: child")
REMEMBERING = agent("memory: {types: {fact: {}}, recall: 3}")
BLANK = agent("memory: {types: {fact: {}}, recall: 0}, memory_extraction: child")
TIME = UserMessage("(It is 1970-01-01T00:00:00.005Z.)")


def test_without_a_workflow_and_memories_the_turn_is_prepared_at_once_with_the_time() -> None:
    assert talk(BOB, chat()).made(d.PrepareTurn) == [d.PrepareTurn(1, (TIME,))]
    assert nodes(talk(BLANK, chat()).state()) == ["model"]


def test_what_is_under_way_is_not_begun_again() -> None:
    state = talk(ASSEMBLING, chat()).state()
    assert plan_context(ASSEMBLING, state, state.talk.turns[1], NOW) == []


def test_an_assembly_workflow_is_given_the_message_the_recent_turns_the_tools_and_pending_work() -> None:
    state = talk(BOB, chat("one"), says("On it.", call("slow")), chat("two")).state()
    given = assembly_input(BOB, state, state.talk.turns[2])
    assert (given["conversation_id"], given["message"]) == ("r", "two")
    assert given["pending"] == [{"turn": 1, "calls": 1}]
    assert given["recent_turns"] == [
        {
            "turn": 1,
            "agent": "bob",
            "message": "one",
            "replies": ["On it."],
            "moves": [
                {
                    "text": "On it.",
                    "tool_calls": [
                        {"name": "slow", "input": {}, "result": {"status": "started", "call": "call_1_0_0"}}
                    ],
                }
            ],
            "status": "active",
        }
    ]
    tools = given["tools"]
    assert isinstance(tools, list)
    assert "look" in tools


def test_what_it_gives_is_what_the_model_is_given() -> None:
    output: Json = {
        "messages": [
            {"role": "system", "text": "s"},
            {"role": "user", "text": "u"},
            {"role": "assistant", "text": "a"},
        ],
        "tools": ["look"],
        "instructions": "Be brief.",
    }
    told = talk(ASSEMBLING, chat("hi"), child_ends("assembly", output))
    messages = (SystemMessage("s"), UserMessage("u"), AssistantMessage("a"))
    assert told.made(d.PrepareTurn) == [d.PrepareTurn(1, (), messages, "Be brief.", ("look",))]
    assert texts(told.state(), 1) == ["system: s", "user: u", "assistant: a", "user: hi"]


@pytest.mark.parametrize(
    ("last", "given"),
    [
        pytest.param("hi", ["user: u", "user: hi"], id="is not doubled, if it is the last"),
        pytest.param("what is a hit?", ["user: u", "user: what is a hit?", "user: hi"], id="and is added otherwise"),
    ],
)
def test_the_chat_message_in_an_assembled_context(last: str, given: list[str]) -> None:
    messages: Json = [{"role": "user", "text": "u"}, {"role": "user", "text": last}]
    assert texts(talk(ASSEMBLING, chat("hi"), child_ends("assembly", {"messages": messages})).state(), 1) == given


def test_a_tool_that_assembly_left_out_cannot_be_called() -> None:
    told = talk(ASSEMBLING, chat(), child_ends("assembly", {"messages": [], "tools": ["look"]}))
    (answered,) = told.then(says("", call("web"))).made(d.AnswerCall)
    error = answered.result.result.error
    assert error is not None
    assert (error.code, error.message) == ("NOT_FOUND", "there is no tool 'web'; the tools are: look")


@pytest.mark.parametrize(
    "output",
    [
        pytest.param(None, id="nothing"),
        pytest.param({"messages": [{"role": "tool", "text": "x"}]}, id="another role"),
        pytest.param({"messages": [], "more": 1}, id="another key"),
    ],
)
def test_an_output_of_another_form_fails_the_turn(output: Json) -> None:
    state = talk(ASSEMBLING, chat()).state()
    *_, end = plan_assembled(ASSEMBLING, state, at_node(state, "assembly"), output, NOW)
    assert isinstance(end, d.EndTurn)
    assert end.error is not None
    assert (end.status, end.error.type) == ("failed", "assembly_failed")


def test_memories_are_searched_for_the_words_of_the_message() -> None:
    state = talk(REMEMBERING, chat("my hat")).state()
    assert recall_input(REMEMBERING, state, state.talk.turns[1]) == {"query": "my hat", "limit": 3}


def memory(content: Json, *, tainted: bool = False) -> Json:
    return {"id": f"id-{content}", "type": "fact", "content": content, "source": {"tainted": tainted}}


@pytest.mark.parametrize(
    ("found", "context", "recalled", "tainted"),
    [
        pytest.param([], (TIME,), (), False, id="none found"),
        pytest.param(
            [memory("Ann likes red"), memory("and blue")],
            (TIME, UserMessage(f"{RECALLED}\n- (fact) Ann likes red\n- (fact) and blue")),
            ("id-Ann likes red", "id-and blue"),
            False,
            id="they stand with the message, best first",
        ),
        pytest.param(
            [memory("x", tainted=True)],
            (TIME, UserMessage(f"{RECALLED}\n- (fact) x")),
            ("id-x",),
            True,
            id="one that came from an untrusted source taints the turn",
        ),
        pytest.param([memory(7), "odd"], (TIME,), (), False, id="what has another form is left out"),
    ],
)
def test_recalled_memories(
    found: Json, context: tuple[UserMessage, ...], recalled: tuple[str, ...], tainted: bool
) -> None:
    told = talk(REMEMBERING, chat(), returns("recall", {"memories": found}))
    assert told.made(d.PrepareTurn) == [d.PrepareTurn(1, context, tainted=tainted, recalled=recalled)]


def test_recalled_memories_stay_with_their_message() -> None:
    told = talk(REMEMBERING, chat("one"), returns("recall", {"memories": [memory("x")]}), says("1"))
    told = told.then(returns("extraction", {}), chat("two"), returns("recall", {"memories": []}))
    assert texts(told.state(), 2) == [f"user: {RECALLED}\n- (fact) x", "user: one", "assistant: 1", "user: two"]
