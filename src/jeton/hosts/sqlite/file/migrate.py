"""Creation and migration of a store's schema. Only forwards; a newer schema is refused.

All steps are one transaction, and a copy of the store is made before it, so no store is ever half migrated.
"""

import re
import secrets
from pathlib import Path

import apsw

from jeton.hosts.sql.connection import PrunedPositions
from jeton.hosts.sqlite.file.connect import FileConnection, begin, connect
from jeton.hosts.sqlite.file.line import has_line, put_pruned
from jeton.hosts.sqlite.file.meta import put_meta, put_schema, put_sequences
from jeton.model.failure import Refused

APPLICATION_ID = 0x6A65746E  # "jetn"
SCHEMA_VERSION = 7
HOST = Path(__file__).parent.parent
_HEADER = re.compile(rb"SQLite format 3\x00.{44}(.{4}).{4}(.{4})", re.DOTALL)  # user_version and application_id


def prepare(path: Path, migrations: dict[int, str] | None = None) -> None:
    """Create a store if there is none, and migrate an older one."""
    steps = _migrations() if migrations is None else migrations
    target = max(steps, default=SCHEMA_VERSION)
    refuse_foreign(path, target)
    db = connect(path, create=True)
    try:
        version = _version(db)
        if version == 0:
            _create(db)
        elif version > target:
            raise _newer(path, version, target)
        elif version < target:
            _copy(db, path.with_name(f"{path.name}.before-v{target}"))
            _upgrade(db, {number: sql for number, sql in steps.items() if number > version})
    except (apsw.NotADBError, apsw.CorruptError) as problem:
        raise Refused("not_a_store", f"{path} cannot be read as a store: {problem}", "name another file") from None
    finally:
        db.close()


def refuse_foreign(path: Path, target: int = SCHEMA_VERSION) -> None:
    """Raise Refused for a file that is no store, or a newer one. Reads its first bytes, and changes nothing."""
    if not path.exists() or path.stat().st_size == 0:
        return
    with path.open("rb") as file:
        found = _HEADER.match(file.read(100))
    if found is None:
        raise Refused("not_a_store", f"{path} is not a jeton store", "name another file")
    version, application = (int.from_bytes(found[i], "big") for i in (1, 2))
    if application not in (0, APPLICATION_ID) or (application == 0 and version != 0):
        raise Refused("not_a_store", f"{path} is a database of another program", "name another file")
    if version > target:
        raise _newer(path, version, target)


def refuse_unready(path: Path) -> None:
    """Raise Refused for a store with another schema, because only its owner may migrate it."""
    refuse_foreign(path)
    db = connect(path)
    try:
        version = _version(db)
    finally:
        db.close()
    if version != SCHEMA_VERSION:
        problem = f"{path} has schema {version}, and this version of jeton reads schema {SCHEMA_VERSION}"
        raise Refused(
            "older_store", problem, "let a command that runs workflows open it first: that brings it up to date"
        )


def _newer(path: Path, version: int, target: int) -> Refused:
    problem = f"{path} has schema {version}, and this version of jeton knows schemas up to {target}"
    return Refused("newer_store", problem, "use the jeton that wrote it, or a newer one")


def _version(db: FileConnection) -> int:
    found: int = db.pragma("user_version")
    return found


def _migrations() -> dict[int, str]:
    """The SQL of each migration, by the schema version it leads to: `0002_why.sql`."""
    folder = HOST / "migrations"
    if not folder.is_dir():
        return {}
    return {int(file.name[:4]): file.read_text() for file in folder.iterdir() if file.name.endswith(".sql")}


def _create(db: FileConnection) -> None:
    if db.execute("select count(*) from sqlite_schema").get:
        raise Refused("not_a_store", "this is a database of another program", "name another file")
    db.pragma("auto_vacuum", "incremental")  # so that pruning can return pages to the file system in small steps
    db.pragma("journal_mode", "wal")
    with db:
        for _ in db.execute((HOST / "schema.sql").read_text()):
            pass
        put_meta(db, "store", secrets.token_hex(16))
        put_meta(db, "epoch", 0)
        put_pruned(db, PrunedPositions())
        put_schema(db)
        put_sequences(db)
        db.pragma("application_id", APPLICATION_ID)
        db.pragma("user_version", SCHEMA_VERSION)
    db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)


def _copy(db: FileConnection, to: Path) -> None:
    """Copy the store as it was. A copy that an interrupted migration left is replaced."""
    to.unlink(missing_ok=True)
    copy = connect(to, create=True)
    try:
        with copy.backup("main", db, "main") as backup:
            backup.step()
    finally:
        copy.close()


def _upgrade(db: FileConnection, steps: dict[int, str]) -> None:
    begin(db, "the migration")
    try:
        for number in sorted(steps):
            for _ in db.execute(steps[number]):
                pass
            db.pragma("user_version", number)
        if not has_line(db):
            put_pruned(db, PrunedPositions())
        put_schema(db)
        put_sequences(db)
        db.execute("commit")
    except BaseException:
        db.execute("rollback")
        raise
    db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
