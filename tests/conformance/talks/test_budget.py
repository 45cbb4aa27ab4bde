"""Budgets of agents for a day, over all their conversations, on every host there is."""

import asyncio

import pytest

from jeton.engine.views.conversation import TurnView
from tests.conformance.case import Data
from tests.conformance.hosts import Open, Opened, simulated, sqlite
from tests.conformance.talk import agent, all_ended, calls, library_of, says

HOSTS = [pytest.param(simulated, id="simulated"), pytest.param(sqlite, id="sqlite")]
PRICED: Data = {"prices": {"input": 0, "output": 10_000}, "parameters": {"max_tokens": 100}}
"""A call may cost one credit, and each token of an answer costs a hundredth."""
HALF: Data = {"usage": {"input_tokens": 0, "output_tokens": 50}}


def made(budget: Data, *script: Data) -> Data:
    return agent(*script, profile=PRICED, persona={"budget": budget}, agents={"eve": {"persona": "helper"}})


async def said(opened: Opened, name: str = "bob") -> TurnView:
    """A turn in a new conversation."""
    return await (await (await opened.engine.converse(name)).send("go")).result(20)


@pytest.mark.parametrize("host", HOSTS)
async def test_all_conversations_of_an_agent_share_its_day_and_others_do_not(host: Open) -> None:
    async with host() as opened:
        await opened.engine.deploy_library(library_of(made({"agent_day": 2}, says("Hello.", **HALF))), None)
        turns = [await said(opened) for _ in range(4)]
        assert [turn.status for turn in turns] == ["completed", "completed", "completed", "exhausted"]
        error = turns[-1].error
        assert error is not None
        assert error.type == "budget_exhausted"
        assert "2 of the 2 credits of 'bob' for " in error.message
        assert (await said(opened, "eve")).status == "completed"


@pytest.mark.parametrize("host", HOSTS)
async def test_calls_at_the_same_time_reserve_what_they_may_cost(host: Open) -> None:
    slow = says("Hello.", delay_ms=60, **HALF)
    async with host() as opened:
        await opened.engine.deploy_library(library_of(made({"agent_day": 2}, slow)), None)
        turns = await asyncio.gather(*(said(opened) for _ in range(4)))
        assert sorted(turn.status for turn in turns) == ["completed", "completed", "exhausted", "exhausted"]


@pytest.mark.parametrize("host", HOSTS)
async def test_people_who_are_asked_may_give_the_day_more(host: Open) -> None:
    script = (says("One.", **HALF), says("Two.", **HALF))
    async with host() as opened:
        budget = {"agent_day": 1, "on_empty": "ask"}
        await opened.engine.deploy_library(library_of(made(budget, *script)), None)
        talk = await opened.engine.converse("bob")
        assert (await (await talk.send("go")).result(20)).replies == ["One."]
        await talk.send("more")
        await opened.engine.idle()
        (gate,) = await talk.gates()
        assert gate.title is not None
        assert "bob needs more credits" in gate.title
        await talk.answer({"credits": 1}, gate=gate.id)
        await all_ended(opened, talk)
        assert [turn.replies for turn in await talk.turns()] == [["One."], ["Two."]]


@pytest.mark.parametrize("host", HOSTS)
async def test_a_turn_that_is_stopped_gives_back_what_it_had_reserved(host: Open) -> None:
    slow = says("Hello.", "message == 'go'", delay_ms=5_000)
    async with host() as opened:
        await opened.engine.deploy_library(library_of(made({"agent_day": 1}, slow, says("Hi."))), None)
        talk = await opened.engine.converse("bob")
        await talk.send("go")
        await opened.sleep(100)
        await talk.cancel()
        assert (await (await talk.send("again")).result(20)).replies == ["Hi."]


@pytest.mark.parametrize("host", HOSTS)
async def test_what_memory_and_summaries_cost_is_in_the_budget(host: Open) -> None:
    """The first turn costs half a credit and keeping its memories a whole one: of two nothing is left for another."""
    keeps = says('{"memories": []}', "context.instructions.contains('memory of an agent')")
    keeps["usage"] = {"input_tokens": 0, "output_tokens": 100}
    persona: Data = {"budget": {"conversation": 2}, "memory": {"types": ["fact"], "recall": 0}}
    script = (keeps, says("One.", **HALF), calls("work", **HALF), says("Two.", **HALF))
    async with host() as opened:
        await opened.engine.deploy_library(library_of(agent(*script, profile=PRICED, persona=persona)), None)
        talk = await opened.engine.converse("bob")
        first = await (await talk.send("go")).result(20)
        assert (first.status, first.issues, [move.credits for move in first.moves]) == ("completed", {}, [1])
        second = await (await talk.send("more")).result(20)
        assert (second.status, second.error and second.error.type) == ("exhausted", "budget_exhausted")


@pytest.mark.parametrize("host", HOSTS)
async def test_what_a_workflow_of_the_persona_asks_models_is_in_the_budget(host: Open) -> None:
    """It is a run below a run, so that the cost travels up."""
    asks: Data = {"kind": "llm", "implementation": {"model_profile": "other", "prompt": "facts"}}
    learn: Data = {"initial_node": "below", "nodes": {"below": {"workflow": "ask"}}, "transitions": []}
    ask: Data = {"initial_node": "asks", "nodes": {"asks": {"action": asks}}, "transitions": []}
    other: Data = {"provider": "scripted", "script": [says("None.", **HALF)] * 2, **PRICED}
    library = agent(
        *[says(f"Hello {number}.", **HALF) for number in range(3)],
        profile=PRICED,
        profiles={"other": other},
        persona={"budget": {"conversation": 2, "agent_day": 10}, "memory_extraction": "learn"},
        workflows={"learn": learn, "ask": ask},
        prompts={"facts": {"template": "Facts?"}},
    )
    async with host() as opened:
        await opened.engine.deploy_library(library_of(library), None)
        talk = await opened.engine.converse("bob")
        turns = [await (await talk.send("go")).result(20) for _ in range(3)]
        assert [turn.status for turn in turns] == ["completed", "completed", "exhausted"]
        assert turns[2].error is not None
        assert "2 of the 2 credits for this conversation are used" in turns[2].error.message
