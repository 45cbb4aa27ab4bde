"""What agents remember across conversations, and how people look after it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.engine.engine import Engine
from jeton.hosts.sqlite.tools.verify import verify
from jeton.model.failure import Refused
from jeton.testing import open_simulated

LIBRARY = """
model_profiles:
  fake:
    provider: scripted
    script:
      - when: "context.instructions.contains('keep the memory') && context.messages[0].text.contains('live in Oslo')"
        text: '{"memories": [{"type": "fact", "content": "Anna lives in Oslo", "significance": 0.9}]}'
      - when: "context.messages.exists(m, m.text.contains('Anna lives in Oslo'))"
        text: "You live in Oslo."
      - {when: "message.contains('note')", tool_calls: [{name: note, input: {type: fact, content: "A note for later"}}]}
      - {when: "size(tool_results) > 0", text: "Noted."}
      - {text: "I do not know."}
tasks:
  note: {steps: [{ref: write, action: {kind: memory, implementation: {operation: write}}}]}
tools:
  note: {description: Notes it., task: note}
personas:
  helper: {model_profile: fake, tools: [note], memory: {scope: SCOPE}}
agents:
  bob: {persona: helper}
  eve: {persona: helper}
workflows:
  find:
    initial_node: a
    nodes:
      a:
        action: {kind: memory, implementation: {operation: search, agent: bob}}
        input_mapping: {query: input.text}
        output_mapping: {output.found: "result.memories.map(m, m.content)"}
"""


def library(scope: str = "agent") -> str:
    return LIBRARY.replace("SCOPE", scope)


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    async with jeton.open(tmp_path / "runs.db", grace_s=0) as opened:
        yield opened


async def deploy(engine: Engine, folder: Path, scope: str = "agent") -> None:
    (folder / "library.yaml").write_text(library(scope))
    await engine.deploy(folder / "library.yaml")


async def say(engine: Engine, text: str, agent: str = "bob", user: str | None = "anna") -> tuple[str, ...]:
    talk = await engine.converse(agent)
    turn = await (await talk.send(text, user=user)).result()
    assert (turn.status, dict(turn.issues)) == ("completed", {}), turn
    return tuple(turn.replies)


async def test_what_was_said_in_one_conversation_is_recalled_in_another(engine: Engine, tmp_path: Path) -> None:
    await deploy(engine, tmp_path)
    assert await say(engine, "I am Anna and live in Oslo") == ("I do not know.",)
    assert [memory.content for memory in await engine.memories("bob")] == ["Anna lives in Oslo"]
    assert await say(engine, "Where does Anna live?") == ("You live in Oslo.",)
    assert await say(engine, "Where does Anna live?", "eve") == ("I do not know.",), "the memory is bob's"
    run = await engine.start("find", {"text": "Oslo"})
    assert (await run.result()).output == {"found": ["Anna lives in Oslo"]}


async def test_users_are_kept_apart_if_the_persona_says_so(engine: Engine, tmp_path: Path) -> None:
    await deploy(engine, tmp_path, "user")
    await say(engine, "I am Anna and live in Oslo")
    assert await say(engine, "Where does Anna live?", user="ben") == ("I do not know.",)
    assert await say(engine, "Where does Anna live?", user=None) == ("I do not know.",)
    assert await say(engine, "Where does Anna live?") == ("You live in Oslo.",)
    assert [(memory.scope, memory.user) for memory in await engine.memories("bob")] == [("user", "anna")]
    assert await engine.memories("bob", user="ben") == ()
    assert await engine.memories("bob", user="") == ()


async def test_a_tool_that_writes_to_memory_writes_to_that_of_its_agent(engine: Engine, tmp_path: Path) -> None:
    await deploy(engine, tmp_path, "user")
    assert await say(engine, "please note this") == ("Noted.",)
    (memory,) = await engine.memories("bob")
    assert (memory.content, memory.user, memory.source.turn) == ("A note for later", "anna", 1)
    with pytest.raises(Refused):
        await engine.memories("nobody")
    assert await engine.memories("eve") == ()


async def test_people_search_read_and_delete(engine: Engine, tmp_path: Path) -> None:
    await deploy(engine, tmp_path)
    talk = await engine.converse("bob")
    await (await talk.send("I am Anna and live in Oslo", user="anna")).result()
    (hit,) = await engine.search_memories("bob", "oslo?")
    assert hit.scores is not None
    assert hit.scores.significance == 0.9
    assert await engine.search_memories("bob", "oslo", type="wish") == ()
    read = await engine.memory("bob", hit.id)
    assert (read.content, read.source.conversation, read.scores) == ("Anna lives in Oslo", talk.id, None)
    assert [memory async for memory in engine.export_memories("bob")] == [read]
    for refused in (engine.memory("eve", hit.id), engine.delete_memories("bob", [hit.id, "mnone"])):
        with pytest.raises(Refused) as told:
            await refused
        assert told.value.code == "unknown_memory"
    other = await engine.converse("bob")
    await (await other.send("Where does Anna live?", user="anna")).result()
    (gone,) = await engine.delete_memories("bob", [hit.id])
    assert (gone.id, set(gone.conversations)) == (hit.id, {talk.id, other.id}), "one recalled it, and has it too"
    assert await engine.memories("bob") == ()


async def test_what_is_deleted_is_only_left_in_the_history_that_is_named(tmp_path: Path) -> None:
    store = tmp_path / "store" / "runs.db"
    store.parent.mkdir()
    async with jeton.open(store, grace_s=0) as engine:
        await deploy(engine, tmp_path)
        await say(engine, "please note this")
        (memory,) = await engine.memories("bob")
        (gone,) = await engine.delete_memories("bob", [memory.id])
        assert len(gone.conversations) == 1
        assert b"A note for later" in _bytes(store), "the conversation has it, as was said"
        talk = await engine.converse("bob", key="other")
        assert gone.conversations[0] != talk.id
    assert verify(store).ok


def _bytes(store: Path) -> bytes:
    return b"".join(file.read_bytes() for file in store.parent.rglob("*") if file.is_file())


def test_scripts_do_the_same_without_await(tmp_path: Path) -> None:
    (tmp_path / "library.yaml").write_text(library())
    with jeton.open_sync(tmp_path / "runs.db") as engine:
        engine.deploy(tmp_path / "library.yaml")
        assert engine.memories("bob") == ()
        assert engine.search_memories("bob", "x") == ()
        assert list(engine.export_memories("bob")) == []


async def test_an_agent_in_a_simulated_world_remembers_too(tmp_path: Path) -> None:
    async with open_simulated() as (engine, _):
        await deploy(engine, tmp_path, "user")
        await say(engine, "I am Anna and live in Oslo")
        assert await say(engine, "Where does Anna live?") == ("You live in Oslo.",)
        assert await say(engine, "Where does Anna live?", user="ben") == ("I do not know.",)
        (memory,) = await engine.memories("bob")
        assert [gone.id for gone in await engine.delete_memories("bob", [memory.id])] == [memory.id]
        assert await engine.memories("bob") == ()


async def test_a_call_that_is_not_awaited_says_so(engine: Engine) -> None:
    asked: Any = engine.memories("bob")
    with pytest.raises(AttributeError, match=r"await engine\.memories"):
        _ = asked.content


async def test_a_task_that_writes_while_the_store_is_closed_is_not_failed_by_it(tmp_path: Path) -> None:
    began, may_go_on = asyncio.Event(), asyncio.Event()

    @jeton.action
    async def wait_for_the_close() -> None:
        began.set()
        await may_go_on.wait()

    write: dict[str, Any] = {"kind": "memory", "implementation": {"operation": "write", "agent": "bob"}}
    steps = [
        {"ref": "wait", "action": wait_for_the_close},
        {"ref": "write", "action": write, "input_mapping": {"type": "'fact'", "content": "'Late'"}},
    ]
    late = jeton.Workflow("late")
    late.node("a", task={"steps": steps})
    async with jeton.open(tmp_path / "runs.db") as engine:
        await deploy(engine, tmp_path)
        run = await engine.start(late, {})
        await began.wait()
        asyncio.get_running_loop().call_later(0.02, may_go_on.set)  # by then the store is being closed
    async with jeton.open(tmp_path / "runs.db") as engine:
        assert (await engine.get(run.id)).status == "completed"
        assert [memory.content for memory in await engine.memories("bob")] == ["Late"]
