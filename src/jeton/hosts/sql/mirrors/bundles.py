"""The table of deployed definitions."""

from jeton.actor.definitions import bundle_hash, called_bundles, encode_bundle
from jeton.actor.whole.digests import row_digest
from jeton.hosts.sql.connection import Connection
from jeton.hosts.sql.mirrors.sources import put_deployment
from jeton.model.definition.workflow import Library


def put_bundle(db: Connection, name: str, bundle: Library, now: int) -> int:
    """Store a bundle and what it calls. Returns its version, which new runs get from now on."""
    version = _put_version(db, name, bundle)
    put_deployment(db, name, version, now)
    return version


def _put_version(db: Connection, name: str, bundle: Library) -> int:
    put_children(db, name, bundle)
    found = bundle_hash(bundle)
    latest: int = db.execute("select coalesce(max(deployed), 0) from definitions where name = ?", (name,)).get
    known: int | None = db.execute("select version from definitions where name = ? and hash = ?", (name, found)).get
    if known is not None:
        query = "select bundle from definitions where name = ? and version = ?"
        body: bytes = db.execute(query, (name, known)).get
        digest = row_digest("definitions", name, known, found, body, latest + 1)
        update = "update definitions set deployed = ?, digest = ? where name = ? and version = ?"
        db.execute(update, (latest + 1, digest, name, known))
        return known
    return _insert(db, name, found, bundle, latest + 1)


def put_children(db: Connection, name: str, bundle: Library) -> None:
    """Store the workflows that a workflow calls. They are not deployed: new runs get them only if there is no other."""
    for child, its_bundle in called_bundles(name, bundle):
        found = bundle_hash(its_bundle)
        if db.execute("select 1 from definitions where name = ? and hash = ?", (child, found)).get is None:
            _insert(db, child, found, its_bundle, 0)


def _insert(db: Connection, name: str, found: str, bundle: Library, deployed: int) -> int:
    version: int = db.execute("select coalesce(max(version), 0) + 1 from definitions where name = ?", (name,)).get
    insert_version(db, name, version, found, encode_bundle(bundle), deployed)
    return version


def insert_version(db: Connection, name: str, version: int, found: str, body: bytes, deployed: int) -> None:
    """Store one version."""
    insert = "insert into definitions(name, version, hash, bundle, deployed, digest) values(?, ?, ?, ?, ?, ?)"
    row = name, version, found, body, deployed
    db.execute(insert, (*row, row_digest("definitions", *row)))
