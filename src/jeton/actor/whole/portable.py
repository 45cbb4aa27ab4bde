"""The file format of an exported run.

The file is JSON and holds everything: the definition, the journal, and what follows from it. It may be reformatted, but
not changed: a digest covers all of it, and the journal has to lead to the rest as in a store. The digest is no
signature: whoever invents a run can compute it too.
"""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

import msgspec

from jeton.actor.journal import JournalEntry
from jeton.actor.whole.run_copy import Columns, RunCopy, SnapshotRow, problems_in
from jeton.model.definition.workflow import Library
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.message import Message

FORMAT_VERSION = 1

_T = TypeVar("_T")


class StepRow(NamedTuple):
    """A durable step of a run. Without a result it has begun and not finished."""

    key: str  # without the prefix of the run
    call: str
    result: bytes | None


class PortableEntry(msgspec.Struct, frozen=True):
    """An entry of the journal, with its place in the chain."""

    hash: bytes
    body: msgspec.Raw


class PortableSnapshot(msgspec.Struct, frozen=True):
    """The state after an entry; the body is null for the end of the run."""

    number: int
    hash: bytes
    digest: bytes
    body: msgspec.Raw


class PortableSummary(msgspec.Struct, frozen=True):
    """The summary of pruned entries."""

    entries: int
    hash: bytes
    body: msgspec.Raw


class PortableStep(msgspec.Struct, frozen=True):
    """A durable step. The result is null if it is not done, and may be null if it is."""

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


def encode_portable(
    copy: RunCopy, bundle: bytes | None, summary: bytes | None, inbox: Sequence[bytes], steps: Sequence[StepRow]
) -> bytes:
    """The file of a run. Raises Refused if the run is damaged."""
    problems = ["its definition is not there"] if bundle is None else list(problems_in(copy))
    if bundle is None or problems:
        problem = f"run {copy.run} is damaged: {problems[0]}"
        raise Refused("run_damaged", problem, "verify the store, and restore a backup")
    portable = Portable(
        format="jeton-run",
        format_version=FORMAT_VERSION,
        run_id=copy.run,
        row=copy.columns,
        definition=msgspec.Raw(bundle),
        journal=[PortableEntry(row.hash, msgspec.Raw(row.body)) for row in copy.journal],
        sections={name: msgspec.Raw(body) for name, body in copy.sections.items()},
        snapshots=[
            PortableSnapshot(s.number, s.hash, s.digest, msgspec.Raw(s.body or b"null")) for s in copy.snapshots
        ],
        summary=None if summary is None else PortableSummary(copy.pruned, copy.pruned_hash, msgspec.Raw(summary)),
        inbox=[msgspec.Raw(body) for body in inbox],
        steps=[PortableStep(s.key, s.call, s.result is not None, msgspec.Raw(s.result or b"null")) for s in steps],
        digest="",
    )
    return msgspec.json.encode(msgspec.structs.replace(portable, digest=_digest(portable)))


class Imported(msgspec.Struct, frozen=True):
    """The content of a file, checked, in the form that a host stores."""

    copy: RunCopy
    library: Library
    bundle: bytes
    summary: bytes | None
    inbox: list[bytes]
    steps: list[StepRow]


def decode_portable(file: bytes) -> Imported:
    """The run of a file. Raises Refused if it is no exported run, has a newer format, or was altered."""
    portable = _read(file)
    library = _checked(lambda: _library(portable.definition))
    copy = _copy_of(portable)
    _check(portable, copy, library)
    return Imported(
        copy=copy,
        library=library,
        bundle=bytes(portable.definition),
        summary=None if portable.summary is None else bytes(portable.summary.body),
        inbox=[bytes(body) for body in portable.inbox],
        steps=[StepRow(s.key, s.call, bytes(s.result) if s.done else None) for s in portable.steps],
    )


def _read(file: bytes) -> Portable:
    fields = _checked(lambda: msgspec.json.decode(file, type=dict[str, msgspec.Raw]))
    version: Any = _checked(lambda: msgspec.json.decode(fields.get("format_version", msgspec.Raw(b"null"))))
    if isinstance(version, int) and version > FORMAT_VERSION:
        problem = f"the file has format {version}, and this version of jeton knows formats up to {FORMAT_VERSION}"
        raise Refused("newer_file", problem, "use the jeton that wrote it, or a newer one")
    # without spaces, because a reformatted file has the same digest
    compact = _checked(lambda: msgspec.json.format(file, indent=-1))
    portable = _checked(lambda: msgspec.json.decode(compact, type=Portable))
    if portable.digest != _digest(portable):
        raise _altered("its digest does not fit its content")
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
