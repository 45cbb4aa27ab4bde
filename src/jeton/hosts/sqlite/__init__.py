"""The SQLite host: asyncio, and one file."""

from jeton.hosts.sqlite.file.connect import Durability
from jeton.hosts.sqlite.host import SqliteHost, wall_ms

__all__ = ["Durability", "SqliteHost", "wall_ms"]
