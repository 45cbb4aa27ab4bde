"""The file format of an exported run.

The file is JSON and holds everything: the definition, the journal, and what follows from it. It may be reformatted, but
not changed: a digest covers all of it, and the journal has to lead to the rest as in a store. The digest is no
signature: whoever invents a run can compute it too. So the definition is checked like any other, and a run that has not
ended comes in paused.
"""

import hashlib
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple, TypeVar

import msgspec

from jeton.actor.definitions import encode_bundle
from jeton.actor.journal import JournalEntry
from jeton.actor.retention import Summary
from jeton.actor.whole.calls import Call, calls_of
from jeton.actor.whole.paused import misfits, paused
from jeton.actor.whole.run_copy import Columns, RunCopy, SnapshotRow, problems_in
from jeton.definitions import ActionKinds, library_from
from jeton.definitions.bundle import bundle_of, deployable
from jeton.definitions.write import written
from jeton.executor import check_implementation, kind_names, provider_names
from jeton.model.definition.workflow import Library
from jeton.model.failure import DefinitionError, Problem, Refused
from jeton.model.ids import RunId
from jeton.model.message import (
    AlarmRang,
    ContinueRun,
    ForkRun,
    Message,
    TaskAsked,
    TaskFinished,
    TaskLost,
    TaskNoted,
    TaskReturned,
    TaskStarted,
    TaskSuspended,
    UnpauseRun,
)
from jeton.model.state.run import RunStatus
from jeton.planning.program.compile import compile_definition
from jeton.planning.program.workflow import Program

FORMAT_VERSION = 1
MAX_FILE_BYTES = 512_000_000
MAX_ID_LENGTH = 200

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
    program: Program
    bundle: bytes
    summary: bytes | None
    inbox: list[bytes]
    steps: list[StepRow]


class ImportedRun(msgspec.Struct, frozen=True):
    """A run that was imported. `would_call`: what it may call if it is unpaused; nothing if it has ended."""

    run_id: RunId
    workflow: str
    version: int
    status: RunStatus
    paused: bool
    would_call: tuple[Call, ...] = ()


def imported_run(copy: RunCopy, library: Library) -> ImportedRun:
    """What whoever imports a run is told."""
    head = copy.live.state.head
    calls = () if head.ended else calls_of(library)
    return ImportedRun(copy.run, head.workflow, head.version, head.status, head.paused, calls)


def decode_portable(file: bytes, now: int, name: str = "") -> Imported:
    """The run of a file; paused, unless it has ended.

    Raises Refused if it is no exported run, has a newer format, or was altered, and DefinitionError if its definition
    has errors."""
    portable = _read(file)
    copy = _copy_of(portable)
    for problem in problems_in(copy):
        raise altered(problem)
    workflow = copy.columns.workflow
    library = _definition(portable.definition, workflow, name)
    if not 0 < len(copy.run) <= MAX_ID_LENGTH or not copy.run.isprintable():
        raise altered("its run has no proper id")
    inbox = [body for body in portable.inbox if _kept(body)]
    summary = None if portable.summary is None else bytes(portable.summary.body)
    if summary is not None:
        _checked(lambda: msgspec.json.decode(summary, type=Summary))
    with fitting():
        program = compile_definition(library, workflow)
        for problem in misfits(program, copy.live.state):
            raise altered(problem)
        copy = paused(copy, program, now)
    return Imported(
        copy=copy,
        library=library,
        program=program,
        bundle=encode_bundle(library),
        summary=summary,
        inbox=[bytes(body) for body in inbox],
        steps=[StepRow(s.key, s.call, bytes(s.result) if s.done else None) for s in portable.steps],
    )


def _definition(body: msgspec.Raw, workflow: str, name: str) -> Library:
    """The definition, read again from what its author would have written, so that nothing goes unchecked."""
    try:
        library = _library(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        problem, _, path = str(error).partition(" - at `$")
        place = f"definition{path.rstrip('`')}"
        remedy = "export the run again"
        raise DefinitionError((Problem("error", "wrong_type", name, 0, place, problem, remedy),)) from None
    if workflow not in deployable(library):
        raise altered(f"it has no definition of '{workflow}'")
    checked = library_from(written(bundle_of(library, workflow)), file=name, kinds=_KINDS)
    return bundle_of(checked.require(), workflow)


_KINDS = ActionKinds(kind_names, check_implementation, provider_names)
_OWN = (
    TaskStarted
    | TaskNoted
    | TaskFinished
    | TaskSuspended
    | TaskAsked
    | TaskLost
    | TaskReturned
    | AlarmRang
    | ContinueRun
    | ForkRun
)


def _kept(body: msgspec.Raw) -> bool:
    """Whether a stored message comes along: all but one that unpauses the run."""
    message = _checked(lambda: _message(body))
    if isinstance(message, _OWN):
        raise altered("a message waits for the run that only its own process can send")
    return not isinstance(message, UnpauseRun)


@contextmanager
def fitting(passed: tuple[type[Exception], ...] = ()) -> Generator[None]:
    """Turn any exception but those `passed` into a refusal, because a run that somebody made up can raise anything."""
    try:
        yield
    except (Refused, DefinitionError):
        raise
    except Exception as problem:
        if isinstance(problem, passed):
            raise
        raise altered(f"its parts do not fit each other: {type(problem).__name__}: {problem}") from problem


def altered(problem: str) -> Refused:
    """The refusal of a file that no export wrote."""
    return Refused("file_altered", f"the file was altered: {problem}", "export the run again")


def _read(file: bytes) -> Portable:
    if len(file) > MAX_FILE_BYTES:
        problem = f"the file has more than {MAX_FILE_BYTES} bytes"
        raise Refused("file_too_large", problem, "name a file that `jeton export` made")
    fields = _checked(lambda: msgspec.json.decode(file, type=dict[str, msgspec.Raw]))
    version: Any = _checked(lambda: msgspec.json.decode(fields.get("format_version", msgspec.Raw(b"null"))))
    if isinstance(version, int) and version > FORMAT_VERSION:
        problem = f"the file has format {version}, and this version of jeton knows formats up to {FORMAT_VERSION}"
        raise Refused("newer_file", problem, "use the jeton that wrote it, or a newer one")
    # without spaces, because a reformatted file has the same digest
    compact = _checked(lambda: msgspec.json.format(file, indent=-1))
    portable = _checked(lambda: msgspec.json.decode(compact, type=Portable))
    if portable.digest != _digest(portable):
        raise altered("its digest does not fit its content")
    return portable


def _checked(read: Callable[[], _T]) -> _T:
    try:
        return read()
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as problem:
        raise Refused(
            "not_a_run", f"this is no exported run: {problem}", "name a file that `jeton export` made"
        ) from None


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
