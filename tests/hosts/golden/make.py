"""Write the golden store of today's schema: a run at every kind of wait there is, some memories, and a key.

usage: python -m tests.hosts.golden.make

Made once per released schema and then kept: a file that is there is never written anew, since later versions must open
it as it was.
"""

import asyncio
import gzip
import tempfile
from pathlib import Path

from jeton.actor.access.keys import ApiKey, SavedQuery, Session
from jeton.actor.queries.listing import SourceText
from jeton.executor.memory import MemoryScope, NewMemory, Source, Vector
from jeton.hosts.sqlite import SqliteHost
from jeton.hosts.sqlite.file.migrate import SCHEMA_VERSION
from jeton.hosts.sqlite.tools.backup import backup
from tests.hosts.parked import BEGIN_MS, park

FOLDER = Path(__file__).parent


def golden(version: int) -> Path:
    return FOLDER / f"store-v{version}.db.gz"


async def make(version: int) -> None:
    if golden(version).exists():
        raise SystemExit(f"{golden(version)} is there already, and is kept as it is")
    with tempfile.TemporaryDirectory() as folder:
        store, copy = Path(folder) / "store.db", Path(folder) / "copy.db"
        host = await park(store)
        await remember(host)
        await admit(host)
        await host.listing.keep_source({"timer": 1}, [SourceText("timer.yaml", "workflows: {}")])
        await host.close(0.0)
        backup(store, copy, BEGIN_MS)  # one file, and no room in it that nobody uses
        golden(version).write_bytes(gzip.compress(copy.read_bytes(), mtime=0))


async def remember(host: SqliteHost) -> None:
    """Write memories: one that was superseded, and two that are searched."""
    scope = MemoryScope("bob", "user", "anna")
    source = Source("c1", 2, tainted=True)
    old = await host.memory.write(NewMemory("r1:1:1:s0", scope, "fact", "Anna lives in Oslo", 0.5, {"n": 1}, source))
    bergen = NewMemory("r1:2:1:s0", scope, "fact", "Anna lives in Bergen", source=source, supersedes=old.id)
    await host.memory.write(bergen)
    await host.memory.write(NewMemory("r1:3:1:s0", MemoryScope("bob"), "wish", "Café", vector=Vector("m", b"1234")))


async def admit(host: SqliteHost) -> None:
    """Write keys, one of them revoked, a session and a saved query."""
    await host.access.add_key(ApiKey("key00001", "hash", "ci", ("read", "run"), "anna", BEGIN_MS, BEGIN_MS + 1))
    await host.access.add_key(ApiKey("key00002", "hash", "old", ("admin",), None, BEGIN_MS))
    await host.access.revoke_key("key00002", BEGIN_MS + 2)
    await host.access.add_session(Session("hash", "key00001", BEGIN_MS, BEGIN_MS + 1))
    await host.access.save_query(SavedQuery("failed", "status:failed", BEGIN_MS))


if __name__ == "__main__":
    asyncio.run(make(SCHEMA_VERSION))
