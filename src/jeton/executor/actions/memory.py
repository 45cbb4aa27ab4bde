"""`memory`: what an agent remembers, for itself or, if its persona says so, for each user."""

from collections.abc import Callable, Coroutine, Iterator
from functools import lru_cache
from typing import Any, Literal, cast

import msgspec

from jeton.executor.action import ActionCall, ActionFailed, ActionHandler, Kind, KindProblem
from jeton.executor.memory import Hit, Memory, MemoryScope, NewMemory, Query, Source
from jeton.executor.memory.contents import check_size, unknown_memory
from jeton.executor.memory.embedding import vector_for
from jeton.expression.schema import SchemaValidator
from jeton.model.codes import RefusalCode
from jeton.model.definition.agent import MemoryPolicy
from jeton.model.failure import Refused
from jeton.model.json import Json, JsonObject, kind_of
from jeton.model.times import rfc3339

DEFAULT_FOUND, MOST_FOUND = 10, 100
DEFAULT_LISTED, MOST_LISTED = 50, 500
MOST_SIMILAR = 5
LEAST_SIMILAR = 0.15  # of the score of words or meaning
LONGEST_TYPE = 100
METADATA_BYTES = 16 * 1024
REFUSALS: tuple[RefusalCode, ...] = (
    "unknown_memory",
    "memory_superseded",
    "memory_too_large",
    "vectors_unavailable",
    "unknown_profile",
)


class BadInput(Exception):
    """The input is not what the operation takes."""


class MemoryAction(Kind, frozen=True):
    """One operation on the memory of the agent that the task works for; outside of agents, of the one named here.

    Without `scope` the persona of the agent says who shares its memory."""

    operation: Literal["write", "search", "read", "list", "delete"]
    agent: str | None = None
    scope: Literal["agent", "user"] | None = None

    def problems(self) -> Iterator[KindProblem]:
        if self.agent == "":
            yield KindProblem("agent", "is empty", "write the name of an agent")

    def prepare(self) -> ActionHandler:
        operations: dict[str, Callable[[ActionCall, _Given], Coroutine[Any, Any, Json]]] = {
            "write": _write,
            "search": _search,
            "read": _read,
            "list": _list,
            "delete": _delete,
        }
        operate = operations[self.operation]

        async def act(call: ActionCall) -> Json | ActionFailed:
            agent = self.agent if call.speaker is None else call.speaker.agent
            if agent is None:
                problem = "no agent speaks here, so whose memory is meant has to be said"
                return ActionFailed("no_agent", f"{problem}: write implementation.agent")
            policy = await _policy(call, agent)
            of = self.scope or policy.scope
            user = call.speaker.user if call.speaker is not None and of == "user" else None
            given = call.input if isinstance(call.input, dict) else {}
            try:
                return await operate(call, _Given(given, MemoryScope(agent, of, user), policy))
            except BadInput as bad:
                return ActionFailed("input_invalid", str(bad))
            except Refused as refused:
                if refused.code not in REFUSALS:
                    raise
                return ActionFailed(refused.code, f"{refused.problem} ({refused.remedy})")

        return act


class _Given(msgspec.Struct, frozen=True):
    """The input of a call, and whose memory it is about."""

    input: JsonObject
    scope: MemoryScope
    policy: MemoryPolicy

    def text(self, key: str) -> str:
        """A text that must be there."""
        value = self.maybe_text(key)
        if value is None:
            raise BadInput(f"input.{key} is missing, and must be a text")
        return value

    def maybe_text(self, key: str) -> str | None:
        value = self.input.get(key)
        if value is not None and not isinstance(value, str):
            raise BadInput(f"input.{key} must be a text, and is {kind_of(value)}")
        return value

    def count(self, key: str, default: int, most: int) -> int:
        """A whole number of at least 1; a larger one than `most` is `most`."""
        value = self.input.get(key)
        if value is None:
            return default
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise BadInput(f"input.{key} must be a whole number of at least 1")
        return min(value, most)

    def significance(self) -> float:
        value = self.input.get("significance")
        if value is None:
            return 0.5
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
            raise BadInput("input.significance must be a number from 0 to 1")
        return float(value)

    def type(self) -> str:
        """The type of a new memory, which is one of those that the persona has."""
        type = self.text("type")
        if not 0 < len(type) <= LONGEST_TYPE:
            raise BadInput(f"input.type must have 1 to {LONGEST_TYPE} characters")
        if self.policy.types and type not in self.policy.types:
            raise BadInput(f"input.type is {type!r}, and the persona has: {', '.join(sorted(self.policy.types))}")
        return type

    def metadata(self, type: str) -> JsonObject:
        """What is said of a new memory, checked against the schema of its type."""
        value = self.input.get("metadata")
        found = {} if value is None else value
        if not isinstance(found, dict):
            raise BadInput(f"input.metadata must be an object, and is {kind_of(found)}")
        size = len(msgspec.json.encode(found))
        if size > METADATA_BYTES:
            raise BadInput(f"input.metadata has {size} bytes, and at most {METADATA_BYTES} are kept")
        known = self.policy.types.get(type)
        if known is not None and known.schema:
            problem = _validator(msgspec.json.encode(known.schema)).problem(found, "input.metadata")
            if problem is not None:
                raise BadInput(problem)
        return found


async def _write(call: ActionCall, given: _Given) -> Json:
    type, content = given.type(), call.secrets.text(given.text("content"))
    if not content.strip():
        raise BadInput("input.content is empty")
    check_size(content)
    speaker, vector = call.speaker, await vector_for(call, content)
    new = NewMemory(
        key=call.call.idempotency_key,
        scope=given.scope,
        type=type,
        content=content,
        significance=given.significance(),
        metadata=cast("JsonObject", call.secrets.value(given.metadata(type))),
        source=Source() if speaker is None else Source(speaker.conversation, speaker.turn, speaker.tainted),
        supersedes=given.maybe_text("supersedes"),
        vector=vector,
    )
    written = await call.resources.memory.write(new)
    query = Query(given.scope, content, MOST_SIMILAR, vector=vector, without=written.id)
    similar = [hit for hit in await call.resources.memory.search(query) if _is_similar(hit)]
    return {"id": written.id, "known": written.known, "similar": [hit_json(hit) for hit in similar]}


async def _search(call: ActionCall, given: _Given) -> Json:
    text, limit = given.text("query"), given.count("limit", DEFAULT_FOUND, MOST_FOUND)
    query = Query(given.scope, text, limit, given.maybe_text("type"), await vector_for(call, text))
    return {"memories": [hit_json(hit) for hit in await call.resources.memory.search(query)]}


async def _read(call: ActionCall, given: _Given) -> Json:
    id = given.text("id")
    found = await call.resources.memory.read(given.scope, id)
    if found is None:
        raise unknown_memory(id)
    return {"memory": memory_json(found)}


async def _list(call: ActionCall, given: _Given) -> Json:
    limit = given.count("limit", DEFAULT_LISTED, MOST_LISTED)
    superseded = given.input.get("superseded")
    if superseded is not None and not isinstance(superseded, bool):
        raise BadInput(f"input.superseded must be a boolean, and is {kind_of(superseded)}")
    type, after = given.maybe_text("type"), given.maybe_text("after")
    found = await call.resources.memory.list(
        given.scope, type=type, superseded=bool(superseded), after=after, limit=limit + 1
    )
    page: JsonObject = {"memories": [memory_json(memory) for memory in found[:limit]]}
    return {**page, "next": found[limit - 1].id} if len(found) > limit else page


async def _delete(call: ActionCall, given: _Given) -> Json:
    gone = await call.resources.memory.delete(given.scope, [given.text("id")])
    return {"deleted": bool(gone), "conversations": [name for each in gone for name in each.conversations]}


async def _policy(call: ActionCall, agent: str) -> MemoryPolicy:
    """What the agent's persona says: the one deployed with this workflow, or else the newest that is deployed."""
    return call.memories.get(agent) or await call.resources.memory.policy(agent) or MemoryPolicy()


def _is_similar(hit: Hit) -> bool:
    return max(hit.scores.text, (hit.scores.vector or 0) / 2) >= LEAST_SIMILAR


@lru_cache(64)
def _validator(schema: bytes) -> SchemaValidator:
    return SchemaValidator(msgspec.json.decode(schema))


def memory_json(memory: Memory) -> JsonObject:
    """A memory as workflows and models see it."""
    source: JsonObject = {
        "conversation": memory.source.conversation,
        "turn": memory.source.turn,
        "tainted": memory.source.tainted,
    }
    found: JsonObject = {
        "id": memory.id,
        "agent": memory.agent,
        "type": memory.type,
        "content": memory.content,
        "significance": memory.significance,
        "metadata": memory.metadata,
        "source": source,
        "created_at": rfc3339(memory.created_at),
        "updated_at": rfc3339(memory.updated_at),
    }
    if memory.scope == "user":
        found["user"] = memory.user
    if memory.superseded_by is not None:
        found["superseded_by"] = memory.superseded_by
    if memory.artifact is not None:
        found["artifact"] = msgspec.to_builtins(memory.artifact)
    return found


def hit_json(hit: Hit) -> JsonObject:
    """A memory that was found, with its scores."""
    return {**memory_json(hit.memory), "scores": msgspec.to_builtins(hit.scores)}
