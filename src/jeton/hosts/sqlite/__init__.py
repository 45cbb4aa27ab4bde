"""The SQLite host: asyncio, and one file."""

from jeton.hosts.sql.clock import wall_ms
from jeton.hosts.sqlite.file.connect import Durability
from jeton.hosts.sqlite.host import SqliteHost

__all__ = ["Durability", "SqliteHost", "wall_ms"]
