"""Looking back at conversations: forks, replays, scripts and explanations, on every host there is."""

import pytest

from jeton.engine.talk.conversation import Conversation
from jeton.model import decision as d
from tests.conformance.case import Data
from tests.conformance.hosts import Open, Opened, simulated, sqlite
from tests.conformance.talk import agent, all_ended, calls, library_of, look_at, mocked, says

HOSTS = [pytest.param(simulated, id="simulated"), pytest.param(sqlite, id="sqlite")]
PRICED: Data = {"prices": {"input": 0, "output": 1_000_000}}
FOUR: Data = {"usage": {"input_tokens": 1, "output_tokens": 4}}
MADE = agent(
    calls("pay", text="I pay.", when="message == 'pay' && moves == 0"),
    says("Paid.", "moves > 0 && has(tool_results[0].result)"),
    says("I could not.", "moves > 0 && tool_results[0].error.message.contains('not made before')"),
    {"when": "message == 'pay more' && moves == 0", "tool_calls": [{"name": "pay", "input": {"more": True}}]},
    says("Hello.", usage={"input_tokens": 1, "output_tokens": 1}),
    tools={"pay": {"task": "work"}},
    profiles={
        "other": {
            "provider": "scripted",
            "script": [says("Hi.", usage={"input_tokens": 1, "output_tokens": 4})],
            **PRICED,
        }
    },
)


async def talked(opened: Opened, *texts: str) -> Conversation:
    await opened.engine.deploy_library(library_of(MADE), None)
    talk = await opened.engine.converse("bob", user="ann")
    for text in texts:
        await (await talk.send(text)).result(20)
    return talk


async def paid(opened: Opened, talk: Conversation) -> int:
    """How often the tool was handed to a worker."""
    seen = await look_at(opened, talk)
    return sum(each.node == "tool:pay" for each in seen.decisions(d.DispatchToken))


@pytest.mark.parametrize("host", HOSTS)
async def test_a_fork_with_recorded_tools_runs_nothing_and_asks_for_no_answer_that_was_given(host: Open) -> None:
    async with host() as opened:
        talk = await talked(opened, "hi", "pay")
        fork = await talk.fork(2)
        await all_ended(opened, fork)
        first, second = await fork.turns()
        assert (first.replies, second.replies) == (["Hello."], ["I pay.", "Paid."])
        assert (await paid(opened, fork), await paid(opened, talk)) == (0, 1)
        assert [turn.replies for turn in await talk.turns()] == [["Hello."], ["I pay.", "Paid."]]


@pytest.mark.parametrize("host", HOSTS)
async def test_another_call_than_before_is_an_error_result_with_recorded_tools(host: Open) -> None:
    async with host() as opened:
        talk = await talked(opened, "hi", "pay")
        fork = await talk.fork(2, message="pay more")
        await all_ended(opened, fork)
        assert (await fork.turns())[1].replies == ["I could not."]
        live = await talk.fork(2, message="pay more", tools="live")
        await all_ended(opened, live)
        assert (await live.turns())[1].replies == ["Paid."]


@pytest.mark.parametrize("host", HOSTS)
async def test_a_replay_says_what_differs(host: Open) -> None:
    async with host() as opened:
        talk = await talked(opened, "hi", "pay")
        assert [each.same for each in await talk.replay()] == [True, True]
        first, _ = await talk.replay(profile="other")
        assert [each.what for each in first.differences] == ["text", "tokens", "credits"]
        assert next((each.before, each.after) for each in first.differences) == (["Hello."], ["Hi."])


@pytest.mark.parametrize("host", HOSTS)
async def test_a_script_gives_the_same_conversation_again(host: Open) -> None:
    async with host() as opened:
        talk = await talked(opened, "hi", "pay")
        again = {**MADE, "model_profiles": {"fake": {"provider": "scripted", "script": await talk.script()}}}
        await opened.engine.deploy_library(library_of(again), None)
        other = await opened.engine.converse("bob", user="ann")
        for text in ("hi", "pay"):
            await (await other.send(text)).result(20)
        assert [turn.replies for turn in await other.turns()] == [turn.replies for turn in await talk.turns()]


@pytest.mark.parametrize("host", HOSTS)
async def test_an_explanation_says_what_was_given_what_was_recalled_and_who_is_waited_for(host: Open) -> None:
    write: Data = {"steps": [{"ref": "w", "action": {"kind": "memory", "implementation": {"operation": "write"}}}]}
    made = agent(
        {"when": "message == 'note'", "tool_calls": [{"name": "keep", "input": {"type": "fact", "content": "tea"}}]},
        says("Kept.", "size(tool_results) > 0"),
        calls("pay"),
        tools={"keep": {"task": "write"}, "pay": {"task": "work", "needs_approval": True}},
        tasks={"write": write, "work": mocked({})},
        persona={"memory": {"types": ["fact"]}},
    )
    async with host() as opened:
        await opened.engine.deploy_library(library_of(made), None)
        await (await (await opened.engine.converse("bob")).send("note")).result(20)
        talk = await opened.engine.converse("bob")
        await talk.send("tea?")
        await opened.engine.idle()
        told = await talk.explain(1)
        (memory,) = await opened.engine.memories("bob")
        assert told.recalled == (memory.id,)
        assert [sorted(each) for each in told.scores] == [["recency", "significance", "text", "total"]]
        assert any("tea" in getattr(message, "text", "") for message in told.messages)
        assert [(wait.kind, wait.node) for wait in told.waiting_for] == [("gate", "tool:pay")]
