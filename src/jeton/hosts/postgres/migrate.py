"""Creating and migrating the tables of a store, one process at a time."""

from importlib.resources import files
from secrets import token_hex

import msgspec

from jeton.hosts.postgres.connection import PgConnection, safe_url
from jeton.hosts.postgres.dialect import put_meta
from jeton.hosts.sql.connection import PrunedPositions
from jeton.model.failure import Refused

SCHEMA_VERSION = 1
_LOCK = 0x6A65746F6E  # of whoever creates or migrates


def prepare(db: PgConnection, url: str, *, create: bool) -> None:
    """Create the tables, or bring them up to date. Raises Refused for a store that is newer than this program."""
    with db:
        db.execute("select pg_advisory_xact_lock(?)", (_LOCK,))
        version = _version(db)
        if version is None:
            if not create:
                problem = f"there is no store at {safe_url(url)}"
                raise Refused("no_store", problem, "check the address, or let a worker open it first")
            _create(db)
        elif version > SCHEMA_VERSION:
            problem = f"{safe_url(url)} has schema {version}, and this version of jeton knows {SCHEMA_VERSION}"
            raise Refused("newer_store", problem, "use the jeton that wrote it, or a newer one")
        _raise_base(db)


def _version(db: PgConnection) -> int | None:
    if db.execute("select to_regclass('meta')::text").get is None:
        return None
    found: str | None = db.execute("select value from meta where key = 'schema'").get
    return None if found is None else int(found)


def _create(db: PgConnection) -> None:
    db.raw.execute((files("jeton.hosts.postgres") / "schema.sql").read_bytes())
    line = msgspec.json.encode(PrunedPositions()).decode()
    for key, value in {"schema": str(SCHEMA_VERSION), "store": token_hex(16), "base": "0", "line": line}.items():
        put_meta(db, key, value)


def _raise_base(db: PgConnection) -> None:
    """Let positions go on from the last one: in a restored dump, ids of transactions may begin anew."""
    last: int = db.execute(
        "select greatest((select coalesce(max(position), 0) from journal),"
        " (select coalesce(max(number), 0) from emitted))"
    ).get
    missing: int = db.execute("select (?::bigint >> 16) + 1 - (jeton_position(0) >> 16)", (last,)).get
    if missing > 0:
        base: str = db.execute("select value from meta where key = 'base'").get
        put_meta(db, "base", str(int(base) + missing))
