"""A process that writes to the memory of an agent, for tests that kill it.

usage: python -m tests.hosts.memory.child write STORE CONTENT [SUPERSEDED]   as one call, whose key is always the same
       python -m tests.hosts.memory.child delete STORE ID
"""

import asyncio
import sys

from jeton.executor.memory import MemoryScope, NewMemory
from jeton.hosts.sqlite import SqliteHost

SCOPE = MemoryScope("bob")
KEY = "r1:1:1:s0"


async def write(store: str, content: str, supersedes: str | None) -> None:
    host = await SqliteHost.open(store, workers=None)
    written = await host.memory.write(NewMemory(KEY, SCOPE, "fact", content, supersedes=supersedes))
    sys.stdout.write(f"{written.id}\n")
    await host.close(0.0)


async def delete(store: str, id: str) -> None:
    host = await SqliteHost.open(store, workers=None)
    sys.stdout.write(f"{len(await host.memory.delete(SCOPE, [id]))}\n")
    await host.close(0.0)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["write", store, content, *superseded]:
            asyncio.run(write(store, content, superseded[0] if superseded else None))
        case ["delete", store, id]:
            asyncio.run(delete(store, id))
        case _:
            raise SystemExit(__doc__)
