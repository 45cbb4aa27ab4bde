"""Memories of agents, as people look after them."""

from datetime import datetime
from typing import Literal

import msgspec

from jeton.executor.artifacts import ArtifactReference
from jeton.executor.memory import Hit, Memory, Scores, Source
from jeton.model.json import JsonObject
from jeton.model.times import moment


class MemoryView(msgspec.Struct, frozen=True):
    """One memory. Of long content, `content` may be the first part only, and `artifact` refers to all of it.

    `scope`: whether it belongs to the agent, or to the agent and the `user`. `scores` are there if it was searched."""

    id: str
    agent: str
    scope: Literal["agent", "user"]
    user: str | None
    type: str
    content: str
    significance: float
    metadata: JsonObject
    source: Source
    superseded_by: str | None
    created_at: datetime
    updated_at: datetime
    artifact: ArtifactReference | None = None
    scores: Scores | None = None


class ForgottenMemory(msgspec.Struct, frozen=True):
    """A memory that was deleted, and the conversations and runs whose history still has it."""

    id: str
    conversations: tuple[str, ...]


def memory_view(memory: Memory, scores: Scores | None = None) -> MemoryView:
    return MemoryView(
        id=memory.id,
        agent=memory.agent,
        scope=memory.scope,
        user=memory.user,
        type=memory.type,
        content=memory.content,
        significance=memory.significance,
        metadata=memory.metadata,
        source=memory.source,
        superseded_by=memory.superseded_by,
        created_at=moment(memory.created_at),
        updated_at=moment(memory.updated_at),
        artifact=memory.artifact,
        scores=scores,
    )


def hit_view(hit: Hit) -> MemoryView:
    return memory_view(hit.memory, hit.scores)
