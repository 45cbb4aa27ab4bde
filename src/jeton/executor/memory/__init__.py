"""The memory of agents: what is kept of it, how it is searched, and a store of it that lives in memory."""

from jeton.executor.memory.in_memory import InMemoryStore
from jeton.executor.memory.ranking import Scores
from jeton.executor.memory.store import (
    Deleted,
    Hit,
    Memory,
    MemoryScope,
    MemoryStore,
    NewMemory,
    Query,
    Source,
    Vector,
    Written,
)

__all__ = [
    "Deleted",
    "Hit",
    "InMemoryStore",
    "Memory",
    "MemoryScope",
    "MemoryStore",
    "NewMemory",
    "Query",
    "Scores",
    "Source",
    "Vector",
    "Written",
]
