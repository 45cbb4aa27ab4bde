"""Export and import of runs of a file."""

from pathlib import Path
from tempfile import TemporaryDirectory

import apsw

from jeton.actor.whole.portable import Imported, ImportedRun, fitting, imported_run
from jeton.hosts.sql.tools.portable import export_from, import_into
from jeton.hosts.sqlite.file.connect import begin, connect
from jeton.hosts.sqlite.file.meta import put_sequences
from jeton.hosts.sqlite.file.migrate import prepare
from jeton.hosts.sqlite.file.opening import check_readable
from jeton.hosts.sqlite.store import file_store
from jeton.hosts.sqlite.tools.backup import sync
from jeton.model.ids import RunId

_OF_THE_DISK = (
    apsw.BusyError,
    apsw.CantOpenError,
    apsw.CorruptError,
    apsw.FullError,
    apsw.IOError,
    apsw.LockedError,
    apsw.NoMemError,
    apsw.NotADBError,
    apsw.PermissionsError,
    apsw.ReadOnlyError,
)


def export_run(path: Path, run: RunId) -> bytes:
    """A run of a store as a file. The store may be in use; the run stays in it."""
    file = path.resolve()
    check_readable(file)
    store = file_store(file)
    try:
        with store.snapshot() as db:
            return export_from(db, run)
    finally:
        store.close()


def import_run(path: Path, imported: Imported) -> ImportedRun:
    """Store a run from a file, whole or not at all. A new store is made aside first, then moved in place."""
    if path.exists():
        check_readable(path.resolve())
        return _import(path, imported)
    with TemporaryDirectory(prefix=f".{path.name}-", dir=path.parent) as folder:
        draft = Path(folder) / path.name
        prepare(draft)
        done = _import(draft, imported)
        draft.rename(path)
    sync(path.parent)
    return done


def _import(path: Path, imported: Imported) -> ImportedRun:
    db = connect(path)
    try:
        db.pragma("foreign_keys", True)
        begin(db, "an import")
        try:
            with fitting(_OF_THE_DISK):
                copy = import_into(db, imported)
            put_sequences(db)
        except BaseException:
            if db.in_transaction:
                db.execute("rollback")
            raise
        db.execute("commit")
    finally:
        db.close()
    return imported_run(copy, imported.library)
