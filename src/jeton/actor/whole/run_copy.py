"""A copy of everything stored of one run, and the check that it is consistent.

The rest follows from the journal: each entry's hash covers the one before, the last hash is in the run's row, and
folding all entries gives the sections and the row. Damage to one of them shows in the others.
"""

from collections.abc import Callable, Iterator

import msgspec

from jeton.actor.advance import LiveRun
from jeton.actor.journal import JournalEntry, decode_entry, first_hash, next_hash
from jeton.actor.pack import packed, same_json, unpacked
from jeton.actor.queries.snapshots import digest_of, whole_sections
from jeton.actor.replay import replay
from jeton.actor.sections import current_form, load_run
from jeton.apply.record import count_events
from jeton.model.entry import Entry
from jeton.model.ids import RunId
from jeton.model.state.run import Head


class SnapshotRow(msgspec.Struct, frozen=True):
    """The state after an entry. Without a body it is that of the run's own sections."""

    number: int
    hash: bytes
    digest: bytes
    body: bytes | None


class Columns(msgspec.Struct, frozen=True):
    """The run's row, without its blobs."""

    workflow: str
    version: int
    status: str
    paused: int
    submitted_at: int
    started_at: int | None
    ended_at: int | None
    wake: int | None
    busy: int
    entries: int
    parent: str | None


class RunCopy(msgspec.Struct, frozen=True):
    """One run as it is stored. The first `pruned` entries were pruned."""

    run: RunId
    columns: Columns
    hash: bytes
    sections: dict[str, bytes]
    journal: tuple[JournalEntry, ...]
    snapshots: tuple[SnapshotRow, ...] = ()
    pruned: int = 0
    pruned_hash: bytes = b""  # of the last pruned entry
    torn: tuple[str, ...] = ()  # sections that do not lie in parts 0, 1, …, or not as they were packed

    @property
    def live(self) -> LiveRun:
        """The run that an actor would load."""
        return load_run(self.sections)


def problems_in(copy: RunCopy) -> Iterator[str]:
    """The inconsistencies of a run, in words. An exception on damaged data is a problem too, not an error."""
    yield from _tried("the journal", lambda: _chain_problems(copy))
    yield from _tried("the sections", lambda: _section_problems(copy))
    yield from _tried("the row", lambda: _row_problems(copy))
    yield from _tried("the snapshots", lambda: _snapshot_problems(copy))


def _tried(what: str, check: Callable[[], Iterator[str]]) -> Iterator[str]:
    try:
        yield from check()
    except Exception as problem:  # damage can raise anything
        yield f"{what} cannot be read: {type(problem).__name__}: {problem}"


# the journal


def _chain_problems(copy: RunCopy) -> Iterator[str]:
    missing = copy.columns.entries - copy.pruned - len(copy.journal)
    if missing:
        yield f"the journal has {len(copy.journal)} entries, and {copy.columns.entries - copy.pruned} were stored"
    before = copy.pruned_hash if copy.pruned else first_hash(copy.run)
    for expected, row in enumerate(copy.journal, copy.pruned):
        if row.number != expected:
            yield f"journal entry {expected} is missing"
            return
        if row.hash != next_hash(before, row.body):
            yield f"journal entry {expected} was altered, or the one before it"
            return
        before = row.hash
    if before != copy.hash and not missing:
        yield "the journal does not end in the hash that the run's row has"


def entries_of(copy: RunCopy) -> list[Entry]:
    """The journal, decoded."""
    return [decode_entry(row.body) for row in copy.journal]


# what follows from it


def _section_problems(copy: RunCopy) -> Iterator[str]:
    for name in copy.torn:
        yield f"the section '{name}' does not lie as it was written"
    entries = entries_of(copy)
    events = entries[0].first_event if entries else 0
    for number, entry in enumerate(entries, copy.pruned):
        if entry.number != number or entry.first_event != events:
            yield f"journal entry {number} is not the one that was stored there"
            return
        events += count_events(entry.decisions)
    if copy.pruned:
        return  # the run has ended, and its snapshot is compared instead
    folded = whole_sections(replay(copy.live.state.head, entries).state)
    for name in sorted({*folded, *copy.sections}):
        there, here = folded.get(name), copy.sections.get(name)
        if there is None or here is None:
            yield f"the section '{name}' is {'missing' if here is None else 'one that the journal does not lead to'}"
        elif not same_json(there, current_form(name, here)):
            yield f"the section '{name}' is not what the journal leads to"


def columns_of(live: LiveRun) -> Columns:
    """The row of a run."""
    head = live.state.head
    return Columns(
        workflow=head.workflow,
        version=head.version,
        status=head.status,
        paused=int(head.paused),
        submitted_at=head.submitted_at,
        started_at=head.started_at,
        ended_at=head.ended_at,
        wake=live.timers.next_due(),
        busy=int(head.busy > 0 and not head.ended),
        entries=head.entries,
        parent=None if head.parent is None else head.parent.run,
    )


def _row_problems(copy: RunCopy) -> Iterator[str]:
    live = copy.live
    head, expected = live.state.head, columns_of(live)
    if head.run != copy.run:
        yield f"the row is that of run {head.run}"
    for name in Columns.__struct_fields__:
        here, there = getattr(copy.columns, name), getattr(expected, name)
        if here != there:
            yield f"the row says that '{name}' is {here}, and the run that it is {there}"


def _snapshot_problems(copy: RunCopy) -> Iterator[str]:
    hashes = {row.number: row.hash for row in copy.journal}
    for snapshot in copy.snapshots:
        last = snapshot.number == copy.columns.entries - 1
        if snapshot.hash != hashes.get(snapshot.number, copy.hash if last else None):
            yield f"the snapshot after entry {snapshot.number} is of another history"
        if (snapshot.body is None) != (last and copy.columns.ended_at is not None):
            yield f"the snapshot after entry {snapshot.number} has no state of its own, or one too many"
        sections = copy.sections if snapshot.body is None else unpacked(snapshot.body)
        if digest_of(sections) != snapshot.digest or snapshot.body not in (None, packed(sections)):
            yield f"the snapshot after entry {snapshot.number} was altered"


# under another version number


def renumbered(copy: RunCopy, version: int) -> RunCopy:
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
