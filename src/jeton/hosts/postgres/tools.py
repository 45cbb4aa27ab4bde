"""Verification, export and import of a store in PostgreSQL."""

from collections.abc import Callable, Iterator

from jeton.actor.whole.portable import Imported, ImportedRun, fitting, imported_run
from jeton.actor.whole.verified import Finding, Verified
from jeton.hosts.postgres.connection import LOST, connect, unreachable
from jeton.hosts.postgres.migrate import prepare
from jeton.hosts.postgres.pieces import read_pieces
from jeton.hosts.postgres.store import PgStore
from jeton.hosts.sql.connection import Connection
from jeton.hosts.sql.tools.portable import export_from, import_into
from jeton.hosts.sql.tools.verify import Verifier
from jeton.model.ids import RunId

_OUT_OF_ORDER = (
    "select distinct run from (select run, position,"
    " lag(position) over (partition by run order by number) as before from journal) as placed where position <= before"
)


def verify(url: str) -> Verified:
    """Check everything in a store. It may be in use."""
    store = _open(url)
    try:
        problems = tuple(_PgVerifier(store).findings())
    finally:
        store.close()
    return Verified(not problems, problems)


def export_run(url: str, run: RunId) -> bytes:
    """A run as a file. The store may be in use; the run stays in it."""
    store = _open(url)
    try:
        with store.snapshot() as db:
            return export_from(db, run)
    finally:
        store.close()


def import_run(url: str, imported: Imported) -> ImportedRun:
    """Store a run from a file, whole or not at all."""
    db = connect(url, name="jeton import")
    try:
        prepare(db, url, create=True)
        with db, fitting(LOST):
            db.given = 0
            copy = import_into(db, imported)
    except LOST as problem:
        raise unreachable(url, problem) from problem
    finally:
        db.close()
    return imported_run(copy, imported.library)


def _open(url: str) -> PgStore:
    db = connect(url)
    try:
        prepare(db, url, create=False)
    finally:
        db.close()
    return PgStore(url)


class _PgVerifier(Verifier):
    """What the database checks by itself (checksums of pages, foreign keys) is left to it."""

    def _own_checks(self) -> tuple[Callable[[Connection], Iterator[Finding]], ...]:
        return (self._order_findings,)

    def _order_findings(self, db: Connection) -> Iterator[Finding]:
        for (run,) in db.execute(_OUT_OF_ORDER):
            yield Finding(RunId(run), "the positions of its journal entries were altered: restore a backup")

    def _damage_of(self, id: str) -> str | None:
        with self._store.snapshot() as db:
            return read_pieces(db, id)[0]
