"""The host of a store, chosen by its address. The only module of the engine that knows hosts.

The tools for a whole store (verify, backup, export, import) depend on the host, and are chosen here too.
"""

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from jeton.actor.host import Host
from jeton.actor.replies import HostSignals
from jeton.actor.whole.verified import Finding, Verified
from jeton.executor import Executor
from jeton.hosts.sqlite import Durability, SqliteHost
from jeton.model.failure import Refused
from jeton.model.ids import RunId

if TYPE_CHECKING:
    from jeton.actor.whole.portable import ImportedRun
    from jeton.hosts.sqlite.tools.backup import BackedUp

__all__ = [
    "Durability",
    "Finding",
    "Verified",
    "backup_store",
    "export_from",
    "import_into",
    "open_host",
    "verify_store",
]


@asynccontextmanager
async def open_host(
    store: str | PathLike[str], *, workers: Executor | None, durability: Durability, owner: bool, grace_s: float
) -> AsyncGenerator[Host]:
    """The host of a store, wired to the workers that run its tasks."""
    host: Host
    if is_database(store):
        host, folder = await _open_database(str(store), workers, owner), Path.cwd()
    else:
        host = await SqliteHost.open(_file(store), workers=workers, durability=durability, owner=owner)
        folder = Path(store).absolute().parent
    if workers is not None:
        signals = HostSignals(host)
        stores = host.artifacts, host.idempotency, host.events, signals, host.pins, host.memory
        workers.use(folder, *stores, host.now)
    try:
        yield host
    finally:
        await host.close(grace_s)


def is_database(store: str | PathLike[str]) -> bool:
    """Whether a store is a database that several workers share, and not a file."""
    return str(store).startswith(("postgresql://", "postgres://"))


async def _open_database(url: str, workers: Executor | None, owner: bool) -> Host:
    with _needing_psycopg():
        from jeton.hosts.postgres.host import PgHost  # it needs an extra, and costs much to import
    return await PgHost.open(url, workers=workers, owner=owner)


@contextmanager
def _needing_psycopg() -> Generator[None]:
    try:
        yield
    except ImportError as problem:
        missing = f"stores in PostgreSQL need psycopg, which cannot be imported: {problem}"
        raise Refused("needs_package", missing, "pip install 'jeton[postgres]'") from None


def verify_store(store: str | PathLike[str]) -> Verified:
    """Check a store for damage. It may be in use."""
    if is_database(store):
        with _needing_psycopg():
            from jeton.hosts.postgres import tools
        return tools.verify(str(store))
    from jeton.hosts.sqlite.tools.verify import verify  # tools are loaded when they are used

    return verify(_file(store))


def backup_store(store: str | PathLike[str], to: str | PathLike[str], now_ms: int) -> "BackedUp":
    """Copy a store to a new file, as it is at one instant. It may be in use."""
    if is_database(store):
        remedy = "use pg_dump, or a base backup with its archive: docs/postgres.md"
        raise Refused("unsupported_store", "a database is copied by its own tools", remedy)
    from jeton.hosts.sqlite.tools.backup import backup

    return backup(_file(store), Path(to).absolute(), now_ms)


def export_from(store: str | PathLike[str], run: str) -> bytes:
    """The file of one run, with its definition and its history."""
    if is_database(store):
        with _needing_psycopg():
            from jeton.hosts.postgres import tools
        return tools.export_run(str(store), RunId(run))
    from jeton.hosts.sqlite.tools.portable import export_run

    return export_run(_file(store), RunId(run))


def import_into(store: str | PathLike[str], content: bytes, now_ms: int, name: str = "") -> "ImportedRun":
    """Import a run that was exported, from the content of a file. One that has not ended comes in paused."""
    from jeton.actor.whole.portable import decode_portable
    from jeton.engine.views.imported import check_views

    imported = decode_portable(content, now_ms, name)
    check_views(imported)
    if is_database(store):
        with _needing_psycopg():
            from jeton.hosts.postgres import tools
        return tools.import_run(str(store), imported)
    from jeton.hosts.sqlite.tools.portable import import_run

    return import_run(_file(store), imported)


def _file(store: str | PathLike[str]) -> Path:
    scheme, colon, _ = str(store).partition("://")
    if colon or str(store).startswith("restate:"):
        known = scheme.partition(":")[0]
        raise Refused("unsupported_store", f"this version has no host for '{known}:' stores", "name a file")
    return Path(store).absolute()
