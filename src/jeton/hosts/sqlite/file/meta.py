"""The `meta` table: what a store knows of itself as a whole, with what is needed to notice alterations of it.

SQLite's own tables have no room for digests. So the statements that made tables have digests here, and the numbers
that SQLite gave last are copied here with each commit.
"""

from collections.abc import Collection, Iterator

import msgspec

from jeton.actor.whole.digests import SEQUENCES, row_digest
from jeton.hosts.sql.connection import Connection, Value

PUT_META = "insert or replace into meta(key, value, digest) values(?, ?, ?)"
COPY_SEQUENCES = f"('{SEQUENCES}', (select json_group_object(name, seq) from sqlite_sequence), x'')"
SCHEMA = "schema"
LINE = "line"

_digests = msgspec.json.Decoder(dict[str, str]).decode
_numbers = msgspec.json.Decoder(dict[str, int]).decode


def put_meta(db: Connection, key: str, value: Value) -> None:
    """Store a value of the `meta` table."""
    db.execute(PUT_META, (key, value, row_digest("meta", key, value)))


def put_sequences(db: Connection) -> None:
    """Copy the numbers that SQLite gave last. Called at the end of each transaction that may have taken one."""
    db.execute(f"insert or replace into meta(key, value, digest) values{COPY_SEQUENCES}")


def put_schema(db: Connection, before: Collection[str] = ()) -> None:
    """Store digests of the tables, indexes and views that were made since there were only those named."""
    known: bytes | None = db.execute("select value from meta where key = ?", (SCHEMA,)).get
    made = {name: digest for name, digest in _schema_digests(db) if name not in before}
    put_meta(db, SCHEMA, msgspec.json.encode({**({} if known is None else _digests(known)), **made}))


def schema_problems(db: Connection) -> Iterator[str]:
    """Tables, indexes and views that are not as they were made. Those of other programs are ignored."""
    known: bytes | None = db.execute("select value from meta where key = ?", (SCHEMA,)).get
    found = dict(_schema_digests(db))
    for name, digest in ({} if known is None else _digests(known)).items():
        if found.get(name) != digest:
            yield f"'{name}' {'was altered' if name in found else 'is missing'} in the schema: restore a backup"


def missing_meta(db: Connection) -> Iterator[str]:
    """What every store says of itself, and this one does not."""
    found = {key for (key,) in db.execute("select key from meta")}
    for key in ("store", "epoch", LINE, SCHEMA, SEQUENCES):
        if key not in found:
            yield f"the row of 'meta' with key '{key}' is missing: restore a backup"


def sequence_problems(db: Connection) -> Iterator[str]:
    """Last numbers of tables that are not those of the last commit."""
    copied: str | None = db.execute("select value from meta where key = ?", (SEQUENCES,)).get
    stored = {} if copied is None else _numbers(copied)
    found = list(db.execute("select name, seq from sqlite_sequence"))
    if dict(found) != stored or len(found) != len(stored):
        yield "the last numbers in 'sqlite_sequence' were altered: restore a backup"


def _schema_digests(db: Connection) -> Iterator[tuple[str, str]]:
    for kind, name, table, sql in db.execute("select type, name, tbl_name, sql from sqlite_schema"):
        yield name, row_digest("schema", kind, name, table, sql).hex()
