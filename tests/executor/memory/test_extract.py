"""`extract`: what an agent remembers of a turn, decided by a model and written once."""

from collections.abc import AsyncGenerator
from pathlib import Path

import msgspec
import pytest

from jeton.executor import LoopClock, Resources, TaskCall, ThreadPool, compile_task, run_task
from jeton.executor.memory import MemoryScope, MemoryStore, NewMemory, Source
from jeton.executor.task.run_task import TaskResult
from jeton.model.chat import Speaker
from jeton.model.definition.profile import ModelProfile
from jeton.model.definition.task import Action
from jeton.model.definition.workflow import Library
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json, JsonObject
from tests.executor.actions.given_action import failed, succeeded
from tests.executor.given import task
from tests.executor.memory.given import KINDS, Time, opened

BOB = MemoryScope("bob")
SPEAKER = Speaker("bob", "c1", 4, "anna", tainted=True)
TURN: JsonObject = {"turn": 4, "message": "I moved to Bergen", "replies": ["Noted."], "moves": [{"text": "Noted."}]}
KEYED: JsonObject = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}


@pytest.fixture(params=KINDS)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[MemoryStore]:
    async with opened(request.param, tmp_path, Time()) as store:
        yield store


def said(memories: list[JsonObject]) -> JsonObject:
    """The entry of a script that gives these memories."""
    text = msgspec.json.encode({"memories": memories}).decode()
    return {"when": "context.instructions.contains('keep the memory')", "text": text}


async def extract(
    store: MemoryStore, *script: JsonObject, speaker: Speaker | None = SPEAKER, token: int = 1, **more: Json
) -> TaskResult:
    profiles = {"fake": ModelProfile("scripted", script=script)}
    action = Action("extract", {"profile": "fake", "agent": "bob", "persona": "p", **more})
    resources = Resources(LoopClock(), ThreadPool(1), memory=store)
    call = TaskCall(RunId("c1"), TokenId(token), "extraction", 1, TURN, speaker=speaker)
    try:
        return await run_task(call, compile_task(task(action), Library(model_profiles=profiles)), resources)
    finally:
        resources.threads.close()


async def contents(store: MemoryStore, scope: MemoryScope = BOB) -> list[str]:
    return [memory.content for memory in await store.list(scope)]


async def test_what_the_model_says_is_remembered_with_where_it_comes_from(store: MemoryStore) -> None:
    answer = await extract(store, said([{"type": "fact", "content": "Anna lives in Bergen", "significance": 0.8}]))
    written = succeeded(answer)
    (memory,) = await store.list(BOB)
    assert written == {"written": [memory.id], "used": [0]}
    assert (memory.content, memory.significance) == ("Anna lives in Bergen", 0.8)
    assert memory.source == Source("c1", 4, tainted=True)


async def test_the_model_sees_similar_memories_and_may_supersede_one(store: MemoryStore) -> None:
    old = await store.write(NewMemory("k", BOB, "fact", "Anna lives in Oslo, and moved there from Bergen"))
    when = f"context.messages[0].text.contains('{old.id}') && context.messages[0].text.contains('I moved to Bergen')"
    text = msgspec.json.encode(
        {"memories": [{"type": "fact", "content": "Anna lives in Bergen", "supersedes": old.id}]}
    ).decode()
    succeeded(await extract(store, {"when": when, "text": text}))
    assert await contents(store) == ["Anna lives in Bergen"]


async def test_what_cannot_be_superseded_is_added(store: MemoryStore) -> None:
    succeeded(await extract(store, said([{"type": "fact", "content": "Anna lives here", "supersedes": "mnone"}])))
    assert await contents(store) == ["Anna lives here"]


async def test_a_call_that_is_repeated_writes_once_and_asks_no_model(store: MemoryStore) -> None:
    first = await extract(store, said([{"type": "fact", "content": "one"}, {"type": "fact", "content": "two"}]))
    again = await extract(store, said([{"type": "fact", "content": "something else"}]))
    assert succeeded(again)["written"] == succeeded(first)["written"]
    assert succeeded(again)["used"] == []
    assert sorted(await contents(store)) == ["one", "two"]
    await extract(store, said([{"type": "fact", "content": "three"}]), token=2)
    assert len(await contents(store)) == 3


async def test_a_script_without_an_answer_remembers_nothing(store: MemoryStore) -> None:
    about_the_turn: JsonObject = {"when": "message.contains('Bergen')", "text": "Nice town!"}
    assert await extract(store, {"text": "Hello!"}, about_the_turn) == {"written": [], "used": []}
    assert await contents(store) == []


async def test_the_types_of_the_persona_are_the_ones_there_are(store: MemoryStore) -> None:
    types: JsonObject = {"fact": {"schema": KEYED, "description": "about people"}}
    wrong = said([{"type": "joke", "content": "ha"}])
    other = said([{"type": "fact", "content": "x", "metadata": {"n": "one"}}])
    good = said([{"type": "fact", "content": "Anna lives in Bergen", "metadata": {"n": 1}}])
    assert succeeded(await extract(store, wrong, other, good, types=types))["used"] == [0, 1, 2], "misfits are told"
    assert await contents(store) == ["Anna lives in Bergen"]
    answer = failed(await extract(store, wrong, wrong, wrong, types=types, token=2))
    assert answer.type == "output_invalid"


async def test_a_model_that_fails_is_a_failure_and_writes_nothing(store: MemoryStore) -> None:
    answer = failed(await extract(store, {"when": "true", "error": "down"}))
    assert answer.type == "model_error"
    assert await contents(store) == []


async def test_with_a_scope_of_users_it_is_remembered_for_the_one_who_spoke(store: MemoryStore) -> None:
    succeeded(await extract(store, said([{"type": "fact", "content": "a secret"}]), scope="user"))
    assert await contents(store) == []
    assert await contents(store, MemoryScope("bob", "user", "anna")) == ["a secret"]
    nobody = msgspec.structs.replace(SPEAKER, user=None)
    succeeded(await extract(store, said([{"type": "fact", "content": "b"}]), scope="user", speaker=nobody, token=2))
    assert await contents(store, MemoryScope("bob", "user", None)) == ["b"]
