"""One run as a file, and such a file as a run of another store.

The file is JSON and holds everything: the definition, the journal, and what follows from it. It may be laid out anew,
but not changed: the digest covers all of it, and the journal has to lead to the rest as it does in a store. That is no
signature: whoever makes up a definition, or a whole run, can make up a digest to match.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from jeton.actor.definitions import bundle_hash
from jeton.actor.journal import JournalEntry
from jeton.actor.queries.snapshots import digest_of
from jeton.actor.starts import unknown_run
from jeton.hosts.sqlite.commit.rows import PART_BYTES
from jeton.hosts.sqlite.file.connect import Connection, begin, connect
from jeton.hosts.sqlite.file.migrate import prepare
from jeton.hosts.sqlite.file.opening import visit
from jeton.hosts.sqlite.file.pack import packed, unpacked
from jeton.hosts.sqlite.mirrors.bundles import insert_version, put_children
from jeton.hosts.sqlite.mirrors.gates import list_gates
from jeton.hosts.sqlite.mirrors.idempotency import StepRow, put_steps, steps_of
from jeton.hosts.sqlite.mirrors.typed.mirror import write_whole
from jeton.hosts.sqlite.mirrors.typed.tables import tables_of
from jeton.hosts.sqlite.store import Store
from jeton.hosts.sqlite.tools.examine import Columns, RunCopy, SnapshotRow, problems_in, read_copy
from jeton.model.definition.workflow import Library
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.message import Message
from jeton.model.state.run import Head

FORMAT_VERSION = 1

_T = TypeVar("_T")


class PortableEntry(msgspec.Struct, frozen=True):
    """An entry of the journal, with its place in the chain."""

    hash: bytes
    body: msgspec.Raw


class PortableSnapshot(msgspec.Struct, frozen=True):
    """Where the run stood after an entry; the body is null for one of the end."""

    number: int
    hash: bytes
    digest: bytes
    body: msgspec.Raw


class PortableSummary(msgspec.Struct, frozen=True):
    """What pruning left of the first entries."""

    entries: int
    hash: bytes
    body: msgspec.Raw


class PortableStep(msgspec.Struct, frozen=True):
    """A step that a node of the run took, or had only begun: then its result is null, which a done one's may be."""

    key: str
    call: str
    done: bool
    result: msgspec.Raw


class Portable(msgspec.Struct, frozen=True):
    """The file."""

    format: Literal["jeton-run"]
    format_version: int
    run_id: RunId
    row: Columns
    definition: msgspec.Raw
    journal: list[PortableEntry]
    sections: dict[str, msgspec.Raw]
    snapshots: list[PortableSnapshot]
    summary: PortableSummary | None
    inbox: list[msgspec.Raw]
    steps: list[PortableStep]
    digest: str


_library = msgspec.json.Decoder(Library).decode
_message = msgspec.json.Decoder(Message).decode


def export_run(path: Path, run: RunId) -> bytes:
    """A run of a store as a file. The store may be in use; the run there is left as it is."""
    file = path.resolve()
    visit(file)
    store = Store(file)
    try:
        with store.snapshot() as db:
            return _export(db, run)
    finally:
        store.close()


def _export(db: Connection, run: RunId) -> bytes:
    copy = read_copy(db, run)
    if copy is None:
        raise unknown_run(run)
    query = "select bundle from definitions where name = ? and version = ?"
    bundle: bytes | None = db.execute(query, (copy.columns.workflow, copy.columns.version)).get
    problems = ["its definition is not there"] if bundle is None else list(problems_in(copy))
    if bundle is None or problems:
        raise Refused("run_damaged", f"run {run} is damaged: {problems[0]}", "verify the store, and restore a backup")
    summary: bytes | None = db.execute("select body from summaries where run = ?", (run,)).get
    messages = db.execute("select body from inbox where run = ? order by id", (run,))
    steps = steps_of(db, run)
    portable = Portable(
        format="jeton-run",
        format_version=FORMAT_VERSION,
        run_id=run,
        row=copy.columns,
        definition=msgspec.Raw(bundle),
        journal=[PortableEntry(row.hash, msgspec.Raw(row.body)) for row in copy.journal],
        sections={name: msgspec.Raw(body) for name, body in copy.sections.items()},
        snapshots=[
            PortableSnapshot(s.number, s.hash, s.digest, msgspec.Raw(s.body or b"null")) for s in copy.snapshots
        ],
        summary=None if summary is None else PortableSummary(copy.pruned, copy.pruned_hash, msgspec.Raw(summary)),
        inbox=[msgspec.Raw(body) for (body,) in messages],
        steps=[PortableStep(s.key, s.call, s.result is not None, msgspec.Raw(s.result or b"null")) for s in steps],
        digest="",
    )
    return msgspec.json.encode(msgspec.structs.replace(portable, digest=_digest(portable)))


def import_run(path: Path, file: bytes) -> RunId:
    """Put a run into a store, which is made if need be. Its owner goes on with a run that has not ended."""
    portable = _read(file)
    library = _checked(lambda: _library(portable.definition))
    copy = _copy_of(portable)
    _check(portable, copy, library)
    if path.exists():
        visit(path.resolve())
    else:
        prepare(path)
    db = connect(path)
    try:
        db.pragma("foreign_keys", True)
        begin(db, "an import")
        try:
            _put(db, copy, portable, library)
        except BaseException:
            db.execute("rollback")
            raise
        db.execute("commit")
    finally:
        db.close()
    return copy.run


def _read(file: bytes) -> Portable:
    fields = _checked(lambda: msgspec.json.decode(file, type=dict[str, msgspec.Raw]))
    version: Any = _checked(lambda: msgspec.json.decode(fields.get("format_version", msgspec.Raw(b"null"))))
    if isinstance(version, int) and version > FORMAT_VERSION:
        problem = f"the file has format {version}, and this version of jeton knows formats up to {FORMAT_VERSION}"
        raise Refused("newer_file", problem, "use the jeton that wrote it, or a newer one")
    # laid out anew it is still the same file: what is hashed is what was written, without the spaces
    compact = _checked(lambda: msgspec.json.format(file, indent=-1))
    portable = _checked(lambda: msgspec.json.decode(compact, type=Portable))
    if portable.digest != _digest(portable):
        raise _altered("its digest is that of another content")
    return portable


def _checked(read: Callable[[], _T]) -> _T:
    try:
        return read()
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as problem:
        raise Refused(
            "not_a_run", f"this is no exported run: {problem}", "name a file that `jeton export` made"
        ) from None


def _altered(problem: str) -> Refused:
    return Refused("file_altered", f"the file was altered: {problem}", "export the run again")


def _digest(portable: Portable) -> str:
    return hashlib.sha256(msgspec.json.encode(msgspec.structs.replace(portable, digest=""))).hexdigest()


def _copy_of(portable: Portable) -> RunCopy:
    summary = portable.summary
    first = 0 if summary is None else summary.entries
    journal = tuple(JournalEntry(first + i, e.hash, bytes(e.body)) for i, e in enumerate(portable.journal))
    bodies = (None if bytes(s.body) == b"null" else bytes(s.body) for s in portable.snapshots)
    snapshots = (SnapshotRow(s.number, s.hash, s.digest, b) for s, b in zip(portable.snapshots, bodies, strict=True))
    before = b"" if summary is None else summary.hash
    return RunCopy(
        run=portable.run_id,
        columns=portable.row,
        hash=journal[-1].hash if journal else before,
        sections={name: bytes(body) for name, body in portable.sections.items()},
        journal=journal,
        snapshots=tuple(snapshots),
        pruned=first,
        pruned_hash=before,
    )


def _check(portable: Portable, copy: RunCopy, library: Library) -> None:
    for problem in problems_in(copy):
        raise _altered(problem)
    if copy.columns.workflow not in library.workflows and copy.columns.workflow not in library.flows:
        raise _altered(f"it has no definition of '{copy.columns.workflow}'")
    _checked(lambda: [_message(body) for body in portable.inbox])


def _put(db: Connection, copy: RunCopy, portable: Portable, library: Library) -> None:
    run, workflow = copy.run, copy.columns.workflow
    if db.execute("select count(*) from runs where run = ?", (run,)).get:
        raise Refused("run_exists", f"run {run} is in this store already", "import it into another")
    version = _put_definition(db, workflow, copy.columns.version, bytes(portable.definition), bundle_hash(library))
    put_children(db, workflow, library)
    copy = _renumbered(copy, version)
    insert = "insert into journal(run, number, hash, body) values(?, ?, ?, ?)"
    db.executemany(insert, [(run, row.number, row.hash, row.body) for row in copy.journal])
    insert = "insert into sections(run, name, part, body) values(?, ?, ?, ?)"
    db.executemany(insert, [(run, *row) for name, body in copy.sections.items() for row in _parts(name, body)])
    insert = "insert into snapshots(run, number, hash, digest, body) values(?, ?, ?, ?, ?)"
    db.executemany(insert, [(run, row.number, row.hash, row.digest, row.body) for row in copy.snapshots])
    if portable.summary is not None:
        insert = "insert into summaries(run, entries, hash, body) values(?, ?, ?, ?)"
        db.execute(insert, (run, copy.pruned, copy.pruned_hash, bytes(portable.summary.body)))
    columns = {"run": run, **msgspec.structs.asdict(copy.columns), "hash": copy.hash, "head": copy.sections["head"]}
    marks = ", ".join("?" * len(columns))
    db.execute(f"insert into runs({', '.join(columns)}) values({marks})", tuple(columns.values()))
    db.executemany("insert into inbox(run, body) values(?, ?)", [(run, bytes(body)) for body in portable.inbox])
    put_steps(db, run, [StepRow(s.key, s.call, bytes(s.result) if s.done else None) for s in portable.steps])
    list_gates(db, copy.live.state)
    definition = library.workflows.get(workflow)  # a flow keeps no state
    tables = tables_of(db, workflow, version, None if definition is None else definition.state_schema)
    if tables is not None:
        write_whole(db, tables, copy.live.state)


def _put_definition(db: Connection, name: str, version: int, bundle: bytes, found: str) -> int:
    """Its version here: that of the same content, else its own number, else the next. New runs get what they got."""
    known: int | None = db.execute("select version from definitions where name = ? and hash = ?", (name, found)).get
    if known is not None:
        return known
    taken = {number for (number,) in db.execute("select version from definitions where name = ?", (name,))}
    free = version if version not in taken else max(taken) + 1
    insert_version(db, name, free, found, bundle, 0)
    return free


def _renumbered(copy: RunCopy, version: int) -> RunCopy:
    """The same run under the number its definition has here."""
    if version == copy.columns.version:
        return copy
    sections = _with_version(copy.sections, version)
    snapshots: list[SnapshotRow] = []
    for row in copy.snapshots:
        whole = sections if row.body is None else _with_version(unpacked(row.body), version)
        body = None if row.body is None else packed(whole)
        snapshots.append(SnapshotRow(row.number, row.hash, digest_of(whole), body))
    columns = msgspec.structs.replace(copy.columns, version=version)
    return msgspec.structs.replace(copy, columns=columns, sections=sections, snapshots=tuple(snapshots))


def _with_version(sections: dict[str, bytes], version: int) -> dict[str, bytes]:
    head = msgspec.json.decode(sections["head"], type=Head)
    return {**sections, "head": msgspec.json.encode(msgspec.structs.replace(head, version=version))}


def _parts(name: str, body: bytes) -> list[tuple[str, int, bytes]]:
    if name == "head":
        return []  # it lies in the run's row
    pieces = range(0, len(body), PART_BYTES)
    return [(name, part, body[first : first + PART_BYTES]) for part, first in enumerate(pieces)]
