"""Write the golden store of today's schema: a run at every kind of wait there is.

usage: python -m tests.hosts.golden.make

Made once per released schema and then kept: a file that is there is never written anew, since later versions must open
it as it was.
"""

import asyncio
import gzip
import tempfile
from pathlib import Path

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
        await host.close(0.0)
        backup(store, copy, BEGIN_MS)  # one file, and no room in it that nobody uses
        golden(version).write_bytes(gzip.compress(copy.read_bytes(), mtime=0))


if __name__ == "__main__":
    asyncio.run(make(SCHEMA_VERSION))
