"""Export and import of runs."""

import msgspec

from jeton.actor.definitions import bundle_hash
from jeton.actor.journal import JournalEntry
from jeton.actor.pack import packed, unpacked
from jeton.actor.starts import unknown_run
from jeton.actor.whole.portable import Imported, encode_portable
from jeton.actor.whole.run_copy import Columns, RunCopy, SnapshotRow, renumbered
from jeton.hosts.sql.connection import Connection
from jeton.hosts.sql.inbox import put_messages
from jeton.hosts.sql.mirrors.bundles import insert_version, put_children
from jeton.hosts.sql.mirrors.gates import put_gates
from jeton.hosts.sql.mirrors.idempotency import put_steps, steps_of
from jeton.hosts.sql.mirrors.typed.mirror import write_run
from jeton.hosts.sql.mirrors.typed.tables import tables_of
from jeton.hosts.sql.rows import PART_BYTES
from jeton.hosts.sql.tools.retention import put_summary
from jeton.model.failure import Refused
from jeton.model.ids import RunId

_COLUMNS = ", ".join(Columns.__struct_fields__)


def read_copy(db: Connection, run: RunId) -> RunCopy | None:
    """Everything stored of a run, in the transaction that the caller has begun."""
    found = list(db.execute(f"select hash, head, small, {_COLUMNS} from runs where run = ?", (run,)))
    if not found:
        return None
    last, head, small, *columns = found[0]
    sections: dict[str, bytes] = {"head": head, **unpacked(small)}
    parts: dict[str, list[int]] = {}
    query = "select name, part, body from sections where run = ? order by name, part"
    for name, part, body in db.execute(query, (run,)):
        sections[name] = sections.get(name, b"") + body
        parts.setdefault(name, []).append(part)
    torn = [name for name, found in parts.items() if found != list(range(len(found)))]
    if small is not None and packed(unpacked(small)) != small:
        torn.append("small")
    journal = db.execute("select number, hash, body from journal where run = ? order by number", (run,))
    snapshots = db.execute("select number, hash, digest, body from snapshots where run = ? order by number", (run,))
    pruned = list(db.execute("select entries, hash from summaries where run = ?", (run,)))
    return RunCopy(
        run=run,
        columns=Columns(*columns),
        hash=last,
        sections=sections,
        journal=tuple(JournalEntry(*row) for row in journal),
        snapshots=tuple(SnapshotRow(*row) for row in snapshots),
        pruned=pruned[0][0] if pruned else 0,
        pruned_hash=pruned[0][1] if pruned else b"",
        torn=tuple(torn),
    )


def export_from(db: Connection, run: RunId) -> bytes:
    """A run as a file, in the transaction that the caller has begun."""
    copy = read_copy(db, run)
    if copy is None:
        raise unknown_run(run)
    query = "select bundle from definitions where name = ? and version = ?"
    bundle: bytes | None = db.execute(query, (copy.columns.workflow, copy.columns.version)).get
    summary: bytes | None = db.execute("select body from summaries where run = ?", (run,)).get
    inbox = [body for (body,) in db.execute("select body from inbox where run = ? order by id", (run,))]
    return encode_portable(copy, bundle, summary, inbox, steps_of(db, run))


def import_into(db: Connection, imported: Imported) -> RunCopy:
    """Store a run, and return it as it is stored: its definition may have another number here."""
    copy, library = imported.copy, imported.library
    run, workflow = copy.run, copy.columns.workflow
    if db.execute("select count(*) from runs where run = ?", (run,)).get:
        raise Refused("run_exists", f"run {run} is in this store already", "import it into another")
    version = _put_definition(db, workflow, copy.columns.version, imported.bundle, bundle_hash(library))
    put_children(db, workflow, library)
    copy = renumbered(copy, version)
    db.dialect.append_entries(db, [(run, row.number, row.hash, row.body) for row in copy.journal])
    insert = "insert into sections(run, name, part, body) values(?, ?, ?, ?)"
    db.executemany(insert, [(run, *row) for name, body in copy.sections.items() for row in _parts(name, body)])
    insert = "insert into snapshots(run, number, hash, digest, body) values(?, ?, ?, ?, ?)"
    db.executemany(insert, [(run, row.number, row.hash, row.digest, row.body) for row in copy.snapshots])
    if imported.summary is not None:
        put_summary(db, run, copy.pruned, copy.pruned_hash, imported.summary)
    columns = {"run": run, **msgspec.structs.asdict(copy.columns), "hash": copy.hash, "head": copy.sections["head"]}
    marks = ", ".join("?" * len(columns))
    db.execute(f"insert into runs({', '.join(columns)}) values({marks})", tuple(columns.values()))
    put_messages(db, [(run, body) for body in imported.inbox])
    put_steps(db, run, imported.steps)
    put_gates(db, copy.live.state)
    definition = library.workflows.get(workflow)  # a flow has no state
    tables = tables_of(db, workflow, version, None if definition is None else definition.state_schema)
    if tables is not None:
        write_run(db, tables, copy.live.state)
    return copy


def _put_definition(db: Connection, name: str, version: int, bundle: bytes, found: str) -> int:
    """Store a definition, and return its version here: that of the same content, else its own number, else the next.

    It is not deployed: new runs get the version they got before."""
    known: int | None = db.execute("select version from definitions where name = ? and hash = ?", (name, found)).get
    if known is not None:
        return known
    taken = {number for (number,) in db.execute("select version from definitions where name = ?", (name,))}
    free = version if version not in taken else max(taken) + 1
    insert_version(db, name, free, found, bundle, 0)
    return free


def _parts(name: str, body: bytes) -> list[tuple[str, int, bytes]]:
    if name == "head":
        return []  # it is in the run's row
    pieces = range(0, len(body), PART_BYTES)
    return [(name, part, body[first : first + PART_BYTES]) for part, first in enumerate(pieces)]
