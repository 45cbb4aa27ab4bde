"""The table of pinned tools of MCP servers."""

import asyncio
import builtins
from functools import partial

from jeton.actor.whole.digests import row_digest
from jeton.executor.mcp.pins import Pin
from jeton.hosts.sql.connection import Connection, Transact, upsert
from jeton.hosts.sql.store import Store

_COLUMNS = "server, tool, hash, described, at"
_INSERT = f"insert into mcp_pins({_COLUMNS}, digest) values(?, ?, ?, ?, ?, ?) on conflict do nothing"
_REPLACE = upsert("mcp_pins", ("server", "tool"), ("hash", "described", "at", "digest"))


class SqlPinStore:
    """Fulfils `jeton.executor.mcp.pins.PinStore`."""

    def __init__(self, store: Store, write: Transact) -> None:
        self._store = store
        self._write = write

    async def put(self, pin: Pin, *, again: bool = False) -> Pin:
        return await self._write(partial(put_pin, pin=pin, again=again))

    async def list(self, server: str | None = None) -> builtins.list[Pin]:
        return await asyncio.to_thread(self._read, server)

    def _read(self, server: str | None) -> builtins.list[Pin]:
        query = f"select {_COLUMNS} from mcp_pins where server = coalesce(?, server) order by server, tool"
        with self._store.snapshot() as db:
            return [Pin(*row) for row in db.execute(query, (server,))]


def put_pin(db: Connection, pin: Pin, *, again: bool) -> Pin:
    """Store a pin, and return the one that holds."""
    values = (pin.server, pin.tool, pin.hash, pin.described, pin.at)
    db.execute(_REPLACE if again else _INSERT, (*values, row_digest("mcp_pins", *values)))
    (row,) = db.execute(f"select {_COLUMNS} from mcp_pins where server = ? and tool = ?", (pin.server, pin.tool))
    return Pin(*row)
