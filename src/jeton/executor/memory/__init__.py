"""The memory of agents: what is kept of it, how it is searched, and a store of it that lives in memory.

Each name is found when it is first asked for, so that a process loads only what it uses.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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

_HOMES = {
    "InMemoryStore": "jeton.executor.memory.in_memory",
    "Scores": "jeton.executor.memory.ranking",
    "Deleted": "jeton.executor.memory.store",
    "Hit": "jeton.executor.memory.store",
    "Memory": "jeton.executor.memory.store",
    "MemoryScope": "jeton.executor.memory.store",
    "MemoryStore": "jeton.executor.memory.store",
    "NewMemory": "jeton.executor.memory.store",
    "Query": "jeton.executor.memory.store",
    "Source": "jeton.executor.memory.store",
    "Vector": "jeton.executor.memory.store",
    "Written": "jeton.executor.memory.store",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module '{__name__}' has no attribute {name!r}")
    found: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found
