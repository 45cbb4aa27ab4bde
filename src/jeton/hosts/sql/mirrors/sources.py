"""The tables of deployments, and of the texts that versions were deployed from."""

import hashlib
from collections.abc import Mapping, Sequence

import msgspec

from jeton.actor.queries.listing import SourceText, StoredVersion
from jeton.actor.whole.digests import row_digest
from jeton.hosts.sql.connection import Connection

_encode = msgspec.json.Encoder().encode
_files = msgspec.json.Decoder(tuple[SourceText, ...]).decode

_VERSIONS = """
select version, hash, deployed, at from definitions left join deployments using(name, version)
where name = ? and deployed > 0 order by version desc
"""
_SET_SOURCE = "update deployments set source = ?, digest = ? where name = ? and version = ?"


def put_deployment(db: Connection, name: str, version: int, now: int) -> None:
    """Note when a version was deployed for the first time."""
    if db.execute("select 1 from deployments where name = ? and version = ?", (name, version)).get is None:
        row = name, version, now, None
        insert = "insert into deployments(name, version, at, source, digest) values(?, ?, ?, ?, ?)"
        db.execute(insert, (*row, row_digest("deployments", *row)))


def put_source(db: Connection, versions: Mapping[str, int], files: Sequence[SourceText]) -> None:
    """Keep the files that versions were deployed from, and remove those that no version was any more."""
    body = _encode(files)
    found = hashlib.sha256(body).hexdigest()
    insert = "insert into sources(hash, files, digest) values(?, ?, ?) on conflict do nothing"
    db.execute(insert, (found, body, row_digest("sources", found, body)))
    for name, version in versions.items():
        query = "select at from deployments where name = ? and version = ?"
        at: int | None = db.execute(query, (name, version)).get
        if at is not None:
            db.execute(_SET_SOURCE, (found, row_digest("deployments", name, version, at, found), name, version))
    unused = "delete from sources where not exists(select 1 from deployments where source = sources.hash)"
    db.execute(unused)


def versions_in(db: Connection, name: str) -> list[StoredVersion]:
    """The versions that were deployed, newest number first."""
    return [StoredVersion(*row) for row in db.execute(_VERSIONS, (name,))]


def source_in(db: Connection, name: str, version: int) -> tuple[SourceText, ...]:
    """The files that a version was deployed from."""
    query = "select files from deployments join sources on hash = source where name = ? and version = ?"
    found: bytes | None = db.execute(query, (name, version)).get
    return () if found is None else _files(found)
