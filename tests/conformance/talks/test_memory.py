"""Memories of agents, on every host there is."""

import pytest

from jeton.engine.engine import Engine
from tests.conformance.case import Data
from tests.conformance.hosts import Open, simulated, sqlite
from tests.conformance.talk import agent, library_of, says

HOSTS = [pytest.param(simulated, id="simulated"), pytest.param(sqlite, id="sqlite")]
WRITE: Data = {"steps": [{"ref": "w", "action": {"kind": "memory", "implementation": {"operation": "write"}}}]}
MEMORY: Data = {
    "instructions": "Help.",
    "model_profile": "fake",
    "tools": ["remember"],
    "memory": {"types": ["fact"], "recall": 4},
    "memory_extraction": "nothing",
}
NOTHING: Data = {"nothing": {"initial_node": "a", "nodes": {"a": None}, "transitions": []}}
FACT: Data = {"type": "fact", "content": "Ann likes the colour blue."}
MADE = agent(
    {"when": "message == 'I like blue'", "tool_calls": [{"name": "remember", "input": FACT}]},
    says("Noted.", "size(tool_results) > 0 && has(tool_results[0].result)"),
    says("It is blue.", "context.messages.exists(m, m.role == 'user' && m.text.contains('colour blue'))"),
    says("I do not know."),
    others={"remember": {"task": "write"}},
    tasks={"write": WRITE},
    persona=MEMORY,
    agents={"eve": {"persona": "helper"}},
    workflows=NOTHING,
)


async def answer(engine: Engine, name: str, text: str) -> list[str]:
    """What an agent says in a new conversation."""
    turn = await (await (await engine.converse(name, user="ann")).send(text)).result(20)
    assert (turn.status, turn.issues) == ("completed", {})
    return turn.replies


@pytest.mark.parametrize("host", HOSTS)
async def test_a13_a_memory_is_found_by_its_agent_in_another_conversation_and_by_no_other(host: Open) -> None:
    async with host() as opened:
        engine = opened.engine
        await engine.deploy_library(library_of(MADE), None)
        assert await answer(engine, "bob", "I like blue") == ["Noted."]
        assert await answer(engine, "bob", "Which colour do I like?") == ["It is blue."]
        assert await answer(engine, "eve", "Which colour do I like?") == ["I do not know."]


MOVES: Data = {
    "initial_node": "look",
    "nodes": {
        "look": None,
        "replace": {
            "task": "write",
            "input_mapping": {"type": "'fact'", "content": "input.message", "supersedes": "input.memories[0].id"},
        },
        "add": {"task": "write", "input_mapping": {"type": "'fact'", "content": "input.message"}},
    },
    "transitions": [
        {"from": "look", "to": "replace", "condition": "size(input.memories) > 0", "priority": 1},
        {"from": "look", "to": "add", "priority": 2},
    ],
}
KEEPER = agent(
    *[says("Noted.")] * 3,
    tasks={"write": WRITE},
    persona={**MEMORY, "tools": [], "memory_extraction": "moves"},
    workflows={"moves": MOVES},
)


@pytest.mark.parametrize("host", HOSTS)
async def test_an_extraction_workflow_is_given_similar_memories_which_it_may_supersede(host: Open) -> None:
    async with host() as opened:
        engine = opened.engine
        await engine.deploy_library(library_of(KEEPER), None)
        assert await answer(engine, "bob", "Ann lives in Oslo.") == ["Noted."]
        assert await answer(engine, "bob", "Ann lives in Rome.") == ["Noted."]
        assert [memory.content for memory in await engine.memories("bob")] == ["Ann lives in Rome."]
        kept = await engine.memories("bob", superseded=True)
        assert sorted(memory.content for memory in kept) == ["Ann lives in Oslo.", "Ann lives in Rome."]


@pytest.mark.parametrize("host", HOSTS)
async def test_what_a_script_says_of_memories_is_used_up_too(host: Open) -> None:
    keeps = "context.instructions.contains('memory of an agent')"
    facts = [f'{{"memories": [{{"type": "fact", "content": "Fact {number}."}}]}}' for number in (1, 2)]
    made = agent(
        *[says(fact, keeps) for fact in facts],
        *[says("Noted.")] * 3,
        persona={"memory": {"types": ["fact"], "recall": 0}},
    )
    async with host() as opened:
        await opened.engine.deploy_library(library_of(made), None)
        talk = await opened.engine.converse("bob")
        for _ in range(3):
            turn = await (await talk.send("hi")).result(20)
            assert (turn.replies, turn.issues) == (["Noted."], {})
        assert sorted(each.content for each in await opened.engine.memories("bob")) == ["Fact 1.", "Fact 2."]
