"""The memory of agents, as stores keep it.

A memory belongs to an agent, or to an agent and a user, and nobody else sees it. What was superseded can be read by
its id and is not found otherwise. Deleting leaves nothing: neither row, index, vector nor artifact.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Literal, Protocol

import msgspec

from jeton.executor.artifacts import ArtifactReference
from jeton.executor.memory.ranking import Scores
from jeton.model.definition.agent import MemoryPolicy
from jeton.model.json import JsonObject

DEFAULT_SIGNIFICANCE = 0.5


class MemoryScope(msgspec.Struct, frozen=True):
    """Whose memories: of an agent; of an agent and a user, where no user is one of its own; or all of an agent.

    `all` is for the people who look after an agent's memory. Nothing is written with it."""

    agent: str
    of: Literal["agent", "user", "all"] = "agent"
    user: str | None = None


class Source(msgspec.Struct, frozen=True):
    """Where a memory comes from. `tainted`: the turn had read from an untrusted tool."""

    conversation: str | None = None
    turn: int | None = None
    tainted: bool = False


class Memory(msgspec.Struct, frozen=True, omit_defaults=True):
    """One memory. Of long content, which is an artifact, `content` is the first part."""

    id: str
    agent: str
    type: str
    content: str
    significance: float
    created_at: int
    updated_at: int
    metadata: JsonObject = {}
    source: Source = Source()
    user: str | None = None
    scope: Literal["agent", "user"] = "agent"
    superseded_by: str | None = None
    artifact: ArtifactReference | None = None


class Hit(msgspec.Struct, frozen=True):
    """A memory that was found, and why."""

    memory: Memory
    scores: Scores


class Vector(msgspec.Struct, frozen=True):
    """The meaning of a text: numbers of 16 bits, and the model that made them. Only those of one model compare."""

    model: str
    values: bytes


class NewMemory(msgspec.Struct, frozen=True):
    """A memory to be written. `key` is of the call that writes it, which may be repeated."""

    key: str
    scope: MemoryScope
    type: str
    content: str
    significance: float = DEFAULT_SIGNIFICANCE
    metadata: JsonObject = {}
    source: Source = Source()
    supersedes: str | None = None
    vector: Vector | None = None


class Written(msgspec.Struct, frozen=True):
    """What became of a write. `known`: a memory with the same type and content was there."""

    id: str
    known: bool


class Query(msgspec.Struct, frozen=True):
    """What to search for: words, never syntax. `without` is a memory to leave out."""

    scope: MemoryScope
    text: str
    limit: int = 10
    type: str | None = None
    vector: Vector | None = None
    without: str | None = None


class Deleted(msgspec.Struct, frozen=True):
    """A memory that is gone, and the conversations and runs whose history still has it."""

    id: str
    conversations: tuple[str, ...] = ()


class MemoryStore(Protocol):
    """Keeps memories. Every change is durable when its method returns. Nothing is seen from another scope."""

    async def write(self, new: NewMemory, /) -> Written:
        """Write a memory, once per key. The same type and content is not written twice.

        Raises Refused if the memory that is to be superseded is not there, or was superseded before."""
        ...

    async def write_all(self, key: str, new: Sequence[NewMemory], /) -> Sequence[Written]:
        """Write several short memories in one commit, once per key, each with a key of its own.

        One that cannot supersede what it names is written without superseding anything."""
        ...

    async def written(self, key: str, /) -> Sequence[Written] | None:
        """What `write_all` has written under a key; None if nothing was."""
        ...

    async def search(self, query: Query, /) -> list[Hit]:
        """Memories that have some of the words, or a similar meaning, best first."""
        ...

    async def read(self, scope: MemoryScope, id: str, /) -> Memory | None:
        """One memory with all of its content, superseded or not."""
        ...

    async def delete(self, scope: MemoryScope, ids: Sequence[str], /) -> list[Deleted]:
        """Delete memories for good. Returns those that were there."""
        ...

    def export(self, scope: MemoryScope, /) -> AsyncIterator[Memory]:
        """All memories with all of their content, oldest first, also those that were superseded."""
        ...

    async def policy(self, agent: str, /) -> MemoryPolicy | None:
        """What the newest deployed version of an agent says of its memory; None if there is none."""
        ...

    async def list(
        self,
        scope: MemoryScope,
        /,
        *,
        type: str | None = None,
        superseded: bool = False,
        after: str | None = None,
        limit: int = 100,
    ) -> list[Memory]:
        """Memories, newest first; `after` is the last one of the previous page."""
        ...
