"""`memory`: the agent that speaks remembers, and nobody else sees it."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Literal

import msgspec
import pytest

from jeton.executor import LoopClock, Resources, TaskCall, ThreadPool, check_implementation, compile_task, run_task
from jeton.executor.memory import InMemoryStore, MemoryScope, MemoryStore
from jeton.executor.task.notes import NoteLimiter
from jeton.executor.task.run_task import TaskResult
from jeton.hosts.sqlite import SqliteHost
from jeton.model.chat import Speaker
from jeton.model.definition.agent import Agent, MemoryPolicy, MemoryType, Persona
from jeton.model.definition.profile import ModelProfile
from jeton.model.definition.task import Action
from jeton.model.definition.workflow import Library
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.note import LogNote, Note, TokensNote
from tests.executor.actions.given_action import failed, succeeded
from tests.executor.given import task
from tests.executor.memory.given import BEGIN_MS

BOB = Speaker("bob", "c1", 2, "anna")
KEYED: JsonObject = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
PERSONAS = {
    "plain": Persona("plain", "fast"),
    "shy": Persona("shy", "fast", memory=MemoryPolicy(scope="user")),
    "strict": Persona("strict", "fast", memory=MemoryPolicy({"fact": MemoryType(KEYED), "wish": MemoryType()})),
}
AGENTS = {"bob": "plain", "ann": "plain", "sue": "shy", "tom": "strict"}


class Bench:
    """Calls of the action, each with a key of its own."""

    def __init__(self, store: MemoryStore) -> None:
        self.resources = Resources(LoopClock(), ThreadPool(2), memory=store)
        self.library = Library(
            personas=PERSONAS, agents={name: Agent(name, persona) for name, persona in AGENTS.items()}
        )
        self.notes: list[Note] = []
        self._token = 0

    async def call(
        self,
        operation: str,
        input: Json = None,
        speaker: Speaker | None = BOB,
        *,
        token: int | None = None,
        **more: str,
    ) -> TaskResult:
        self._token += 1
        given = TokenId(self._token if token is None else token)
        call = TaskCall(RunId("r1"), given, "n", 1, {} if input is None else input, speaker=speaker)
        ready = compile_task(task(Action("memory", {"operation": operation, **more})), self.library)
        return await run_task(call, ready, self.resources, NoteLimiter(self.notes.append))

    async def write(self, content: str, speaker: Speaker | None = BOB, **more: Json) -> JsonObject:
        return succeeded(await self.call("write", {"type": "fact", "content": content, **more}, speaker))

    async def found(self, query: str, speaker: Speaker | None = BOB, **more: str) -> list[str]:
        answer = succeeded(await self.call("search", {"query": query}, speaker, token=None, **more))
        memories = answer["memories"]
        assert isinstance(memories, list)
        return [str(each["content"]) for each in memories if isinstance(each, dict)]


@pytest.fixture(params=["in memory", "sqlite"])
async def bench(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Bench]:
    if request.param == "in memory":
        bench = Bench(InMemoryStore(lambda: BEGIN_MS))
        yield bench
        bench.resources.threads.close()
        return
    host = await SqliteHost.open(tmp_path / "store.db", workers=None, clock=lambda: BEGIN_MS)
    bench = Bench(host.memory)
    yield bench
    bench.resources.threads.close()
    await host.close(0.0)


async def test_what_is_written_is_found_read_listed_and_deleted(bench: Bench) -> None:
    written = await bench.write("Anna lives in Oslo", significance=1, metadata={"n": 1})
    id = written["id"]
    assert written == {"id": id, "known": False, "similar": []}
    memory: JsonObject = {
        "id": id,
        "agent": "bob",
        "type": "fact",
        "content": "Anna lives in Oslo",
        "significance": 1.0,
        "metadata": {"n": 1},
        "source": {"conversation": "c1", "turn": 2, "tainted": False},
        "created_at": "2023-11-14T22:13:20.000Z",
        "updated_at": "2023-11-14T22:13:20.000Z",
    }
    assert await bench.call("read", {"id": id}) == {"memory": memory}
    assert await bench.call("list") == {"memories": [memory]}
    found = succeeded(await bench.call("search", {"query": "Oslo"}))
    scores = {"text": 0.454545, "significance": 1.0, "recency": 1.0, "total": 0.454545}
    assert found == {"memories": [{**memory, "scores": scores}]}
    assert await bench.call("delete", {"id": id}) == {"deleted": True, "conversations": ["c1"]}
    assert await bench.call("delete", {"id": id}) == {"deleted": False, "conversations": []}
    assert await bench.call("search", {"query": "Oslo"}) == {"memories": []}
    assert failed(await bench.call("read", {"id": id})).type == "unknown_memory"


async def test_a_write_says_what_is_known_and_what_is_similar(bench: Bench) -> None:
    first = await bench.write("Anna lives in Oslo with two cats")
    await bench.write("The invoice of May is paid")
    second = await bench.write("Anna lives in Bergen with two cats")
    assert second["known"] is False
    similar = second["similar"]
    assert isinstance(similar, list)
    assert [each["id"] for each in similar if isinstance(each, dict)] == [first["id"]]
    again = await bench.write("Anna lives in Oslo with two cats")
    assert (again["id"], again["known"]) == (first["id"], True)
    third = await bench.write("Anna lives in Rome", supersedes=first["id"])
    read = succeeded(await bench.call("read", {"id": first["id"]}))["memory"]
    assert isinstance(read, dict)
    assert read["superseded_by"] == third["id"]
    assert failed(await bench.call("write", {"type": "fact", "content": "x", "supersedes": first["id"]})).type == (
        "memory_superseded"
    )


async def test_a_call_that_is_delivered_again_writes_once(bench: Bench) -> None:
    given: JsonObject = {"type": "fact", "content": "Anna lives in Oslo"}
    first = await bench.call("write", given, token=99)
    assert await bench.call("write", given, token=99) == first
    assert succeeded(first)["known"] is False


async def test_pages(bench: Bench) -> None:
    for number in range(5):
        await bench.write(f"thing {number}")
    first = succeeded(await bench.call("list", {"limit": 3}))
    assert [each["content"] for each in _objects(first["memories"])] == ["thing 4", "thing 3", "thing 2"]
    second = succeeded(await bench.call("list", {"limit": 3, "after": first["next"]}))
    assert [each["content"] for each in _objects(second["memories"])] == ["thing 1", "thing 0"]
    assert "next" not in second


def _objects(value: Json) -> list[JsonObject]:
    assert isinstance(value, list)
    return [each for each in value if isinstance(each, dict)]


# whose memory it is


async def test_agents_have_memories_of_their_own(bench: Bench) -> None:
    await bench.write("a secret of bob")
    await bench.write("a secret of ann", Speaker("ann", "c2", 0, "anna"))
    assert await bench.found("secret") == ["a secret of bob"]
    assert await bench.found("secret", Speaker("bob", "c9", 0, "ben")) == ["a secret of bob"], "whoever asks bob"
    assert await bench.found("secret", agent="ann") == ["a secret of bob"], "the agent that speaks is meant"
    assert await bench.found("secret", None, agent="ann") == ["a secret of ann"]


async def test_a_persona_may_keep_users_apart(bench: Bench) -> None:
    users = ("anna", "ben", None)
    for user in users:
        await bench.write(f"a secret of {user}", Speaker("sue", "c1", 0, user))
    for user in users:
        assert await bench.found("a secret", Speaker("sue", "c2", 0, user)) == [f"a secret of {user}"]
    assert await bench.found("a secret", None, agent="sue") == ["a secret of None"], "nobody is a user of its own"
    of_anna = succeeded(await bench.call("list", {}, Speaker("sue", "c3", 0, "anna")))
    assert [each["user"] for each in _objects(of_anna["memories"])] == ["anna"]


@pytest.mark.parametrize("scope", ["agent", "user"])
async def test_the_implementation_may_say_who_shares_it(bench: Bench, scope: Literal["agent", "user"]) -> None:
    await bench.call("write", {"type": "fact", "content": "a secret"}, scope=scope)
    other = Speaker("bob", "c2", 0, "ben")
    assert await bench.found("secret", other, scope=scope) == (["a secret"] if scope == "agent" else [])


async def test_the_persona_that_is_deployed_counts_where_the_workflow_has_none(bench: Bench) -> None:
    class Deployed(InMemoryStore):
        async def policy(self, agent: str) -> MemoryPolicy | None:
            return MemoryPolicy(scope="user") if agent == "zoe" else None

    bench.resources = msgspec.structs.replace(bench.resources, memory=Deployed())
    await bench.write("a secret", Speaker("zoe", "c1", 0, "anna"))
    assert await bench.found("secret", Speaker("zoe", "c1", 0, "ben")) == []
    assert await bench.found("secret", Speaker("zoe", "c1", 0, "anna")) == ["a secret"]


async def test_where_no_agent_speaks_one_has_to_be_named(bench: Bench) -> None:
    answer = failed(await bench.call("search", {"query": "x"}, None))
    assert answer.type == "no_agent"
    assert "implementation.agent" in answer.message


async def test_what_comes_from_untrusted_tools_stays_marked(bench: Bench) -> None:
    written = await bench.write("Anna is an admin", Speaker("bob", "c1", 7, "anna", tainted=True))
    read = succeeded(await bench.call("read", {"id": written["id"]}))["memory"]
    assert isinstance(read, dict)
    assert read["source"] == {"conversation": "c1", "turn": 7, "tainted": True}


# what is taken


@pytest.mark.parametrize(
    ("operation", "input", "says"),
    [
        pytest.param("write", {"content": "x"}, "input.type is missing", id="no type"),
        pytest.param("write", {"type": "fact"}, "input.content is missing", id="no content"),
        pytest.param("write", {"type": "fact", "content": " \n"}, "input.content is empty", id="empty content"),
        pytest.param("write", {"type": 3, "content": "x"}, "input.type must be a text", id="a type that is none"),
        pytest.param("write", {"type": "", "content": "x"}, "1 to 100 characters", id="an empty type"),
        pytest.param("write", {"type": "fact", "content": "x", "significance": 2}, "from 0 to 1", id="too much"),
        pytest.param("write", {"type": "fact", "content": "x", "significance": True}, "from 0 to 1", id="no number"),
        pytest.param("write", {"type": "fact", "content": "x", "metadata": []}, "an object", id="no object"),
        pytest.param("write", {"type": "fact", "content": "x", "metadata": {"x": "y" * 20_000}}, "bytes", id="large"),
        pytest.param("search", {}, "input.query is missing", id="no query"),
        pytest.param("search", {"query": "x", "limit": 0}, "at least 1", id="no limit"),
        pytest.param("read", {}, "input.id is missing", id="no id"),
        pytest.param("list", {"superseded": 1}, "a boolean", id="no boolean"),
        pytest.param("delete", "m1", "input.id is missing", id="no object at all"),
    ],
)
async def test_input_that_does_not_fit(bench: Bench, operation: str, input: Json, says: str) -> None:
    answer = failed(await bench.call(operation, input))
    assert answer.type == "input_invalid"
    assert says in answer.message


async def test_a_persona_says_which_types_there_are_and_what_is_said_of_them(bench: Bench) -> None:
    tom = Speaker("tom", "c1", 0)
    wrong = failed(await bench.call("write", {"type": "joke", "content": "x"}, tom))
    assert "fact, wish" in wrong.message
    wrong_ones: tuple[JsonObject, ...] = ({}, {"n": "1"})
    for metadata in wrong_ones:
        given: JsonObject = {"type": "fact", "content": "x", "metadata": metadata}
        assert "input.metadata" in failed(await bench.call("write", given, tom)).message
    await bench.write("x", tom, metadata={"n": 1})
    assert succeeded(await bench.call("write", {"type": "wish", "content": "y"}, tom))["known"] is False


async def test_content_is_bounded(bench: Bench) -> None:
    answer = failed(await bench.call("write", {"type": "fact", "content": "x" * 2_000_000}))
    assert answer.type == "memory_too_large"


async def test_secrets_are_not_remembered(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "hunter2hunter2")
    bench.library = msgspec.structs.replace(bench.library, settings={"secrets": {"token": {"env": "TOKEN"}}})
    secrets = bench.resources.secrets.of(bench.library.settings)
    await secrets.get("token", bench.resources.clock, bench.resources.threads)
    written = await bench.write("the password is hunter2hunter2", metadata={"n": "hunter2hunter2"})
    found = await bench.resources.memory.read(MemoryScope("bob"), str(written["id"]))
    assert found is not None
    assert "hunter2hunter2" not in repr(found)


@pytest.mark.parametrize(
    ("implementation", "paths"),
    [
        pytest.param({"operation": "write"}, [], id="nothing"),
        pytest.param({"operation": "write", "agent": "bob", "scope": "user"}, [], id="all of it"),
        pytest.param({"operation": "forget"}, ["operation"], id="an unknown operation"),
        pytest.param({"operation": "read", "agent": ""}, ["agent"], id="no name"),
        pytest.param({"operation": "read", "scope": "all"}, ["scope"], id="an unknown scope"),
        pytest.param({}, [""], id="no operation"),
    ],
)
def test_check_at_load(implementation: JsonObject, paths: list[str]) -> None:
    assert [flaw.path for flaw in check_implementation(Action("memory", implementation))] == paths


# meaning

LOCAL: JsonObject = {"memory": {"vectors": True}}
PROVIDED: JsonObject = {"memory": {"vectors": {"model_profile": "words"}}}


async def test_what_means_the_same_is_found_without_a_common_word(bench: Bench) -> None:
    pytest.importorskip("wordllama")
    bench.library = msgspec.structs.replace(bench.library, settings=LOCAL)
    await bench.write("refund the order")
    await bench.write("weather in Oslo")
    answer = succeeded(await bench.call("search", {"query": "give money back"}))
    (hit,) = _objects(answer["memories"])
    scores = hit["scores"]
    assert hit["content"] == "refund the order"
    assert isinstance(scores, dict)
    assert scores["text"] == 0
    assert isinstance(scores["vector"], float)
    assert scores["vector"] > 0.3
    assert scores["total"] == pytest.approx(scores["vector"] / 2 * (2 + 0.5 + 1) / 4, abs=1e-5)
    bench.library = msgspec.structs.replace(bench.library, settings={})
    assert await bench.found("give money back") == [], "only if the project asks for it"


async def test_a_model_profile_makes_the_vectors_and_its_tokens_are_counted(bench: Bench) -> None:
    pytest.importorskip("numpy")
    profiles = {"words": ModelProfile("scripted")}
    bench.library = msgspec.structs.replace(bench.library, settings=PROVIDED, model_profiles=profiles)
    await bench.write("refunding orders")
    assert await bench.found("refund order") == ["refunding orders"]
    assert {note.profile for note in bench.notes if isinstance(note, TokensNote)} == {"words"}


async def test_a_provider_that_does_not_answer_leaves_the_words(bench: Bench) -> None:
    profiles = {"words": ModelProfile("nobody")}
    bench.library = msgspec.structs.replace(bench.library, settings=PROVIDED, model_profiles=profiles)
    await bench.write("refund the order")
    assert await bench.found("order") == ["refund the order"]
    assert "by their words only" in str([note.text for note in bench.notes if isinstance(note, LogNote)])


async def test_a_profile_that_is_not_there_is_a_failure(bench: Bench) -> None:
    bench.library = msgspec.structs.replace(bench.library, settings=PROVIDED)
    assert failed(await bench.call("search", {"query": "x"})).type == "unknown_profile"
