"""Reads of a store. Every method is one short read transaction."""

from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager

import msgspec
from msgspec import UNSET, UnsetType

from jeton.actor.advance import LiveRun
from jeton.actor.journal import decode_entry
from jeton.actor.pack import unpacked
from jeton.actor.rows import GateRow, RunRow
from jeton.actor.sections import load_run
from jeton.actor.starts import StartKey
from jeton.hosts.sql.connection import Connection, Row, Value
from jeton.hosts.sql.damage import describe, reading
from jeton.model.entry import Entry
from jeton.model.failure import RunError
from jeton.model.ids import RunId
from jeton.model.json import Json
from jeton.model.state.run import FiredBy, Fork, Parent, RunStatus

MOST_ENTRIES = 2**63 - 1  # as a limit: none

ENTRIES_PER_READ = 500
AGENTS = "(workflow >= 'agent:' and workflow < 'agent;')"  # runs that are conversations

RUN_COLUMNS = "run, workflow, version, status, paused, submitted_at, started_at, ended_at, wake, entries, head"


class _Outcome(msgspec.Struct):
    """The part of a head that a row shows, and that has no column of its own."""

    error: RunError | None = None
    result: Json | UnsetType = UNSET
    parent: Parent | None = None
    forked: Fork | None = None
    trigger: FiredBy | None = None
    key: str | None = None


_outcome = msgspec.json.Decoder(_Outcome).decode


class StoredRun(msgspec.Struct, frozen=True):
    """A run as an actor loads it."""

    sections: dict[str, bytes]
    hash: bytes
    wake: int | None
    parts: dict[str, int]  # by section, of those that have more than one
    small: dict[str, bytes] | None  # all sections but the head, if they are in the run's row


class Store:
    """Reads a store, from any thread: each call takes a connection from a pool."""

    inbox_in_order = True
    """Whether messages are numbered in the order in which they become visible."""

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connect = connect
        self._idle: deque[Connection] = deque()

    @contextmanager
    def snapshot(self) -> Generator[Connection]:
        """A read transaction. It should be short, because it holds up the checkpoint."""
        try:
            db = self._idle.pop()
        except IndexError:
            db = self._connect()
        try:
            db.execute("begin")
            yield db
        finally:
            if db.in_transaction:
                db.execute("rollback")
            self._idle.append(db)

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    # runs

    def row(self, run: RunId) -> RunRow | None:
        """A run, as lists show it."""
        with self.snapshot() as db:
            found = _all(db, f"select {RUN_COLUMNS} from runs where run = ?", run)
        return run_row_of(found[0]) if found else None

    def is_known(self, run: RunId) -> bool:
        """Whether there is such a run, not ended, or a message for it."""
        query = (
            "select exists(select 1 from runs where run = ?1 and ended_at is null)"
            " or exists(select 1 from inbox where run = ?1)"
        )
        with self.snapshot() as db:
            return bool(db.execute(query, (run,)).get)

    def is_there(self, run: RunId) -> bool:
        """Whether there is such a run, or a message for it."""
        query = "select exists(select 1 from runs where run = ?1) or exists(select 1 from inbox where run = ?1)"
        with self.snapshot() as db:
            return bool(db.execute(query, (run,)).get)

    def rows(
        self,
        workflow: str | None = None,
        status: RunStatus | None = None,
        after: RunId | None = None,
        limit: int = 100,
        conversations: bool = False,
    ) -> list[RunRow]:
        """Runs, or conversations, newest first. `after` is the last one of the previous page."""
        where, values = [AGENTS if conversations else f"not {AGENTS}"], list[Value]()
        if workflow is not None:
            where.append("workflow = ?")
            values.append(workflow)
        if status is not None:
            where.append("status = ?")
            values.append(status)
        if after is not None:
            where.append("(submitted_at, run) < ((select submitted_at from runs where run = ?), ?)")
            values += [after, after]
        of_all_agents = conversations and workflow is None and status is None
        with self.snapshot() as db:
            index = db.dialect.conversations_index if of_all_agents else ""
            query = f"select {RUN_COLUMNS} from runs {index} where {' and '.join(where)}"
            found = _all(db, f"{query} order by submitted_at desc, run desc limit ?", *values, limit)
        return [run_row_of(each) for each in found]

    def children(self, run: RunId) -> list[RunRow]:
        """The runs that a run called, in order."""
        with self.snapshot() as db:
            query = f"select {RUN_COLUMNS} from runs where parent = ? order by submitted_at, run"
            return [run_row_of(found) for found in _all(db, query, run)]

    def gates(self, run: RunId | None = None) -> list[GateRow]:
        """Open gates, oldest first: of one run, or of all."""
        columns = "run, token, node, path, title, since, due, answers, question"
        query, values = f"select {columns} from gates", () if run is None else (run,)
        where = "" if run is None else " where run = ?"
        with self.snapshot() as db:
            return [GateRow(*found) for found in _all(db, f"{query}{where} order by since, run, token", *values)]

    def entries(self, run: RunId, after: int = -1, limit: int | None = None) -> list[Entry]:
        """A run's journal behind an entry, oldest first."""
        query = "select body from journal where run = ? and number > ? order by number limit ?"
        with self.snapshot() as db:
            bodies = _all(db, query, run, after, MOST_ENTRIES if limit is None else limit)
        with reading(run):
            return [decode_entry(body) for (body,) in bodies]

    def stretch(self, run: RunId, first: int, last: int) -> list[Entry]:
        """A run's entries from one number to another, both included."""
        query = "select body from journal where run = ? and number between ? and ? order by number"
        with self.snapshot() as db:
            bodies = _all(db, query, run, first, last)
        with reading(run):
            return [decode_entry(body) for (body,) in bodies]

    def oldest(self, run: RunId) -> int | None:
        """The number of a run's oldest stored entry."""
        with self.snapshot() as db:
            found: int | None = db.execute("select min(number) from journal where run = ?", (run,)).get
        return found

    def load(self, run: RunId) -> StoredRun | None:
        """The sections of the last durable commit; None if there is no such run."""
        with self.snapshot() as db:
            found = _all(db, "select head, hash, wake, small from runs where run = ?", run)
            if not found:
                return None
            head, last_hash, wake, packed = found[0]
            if packed is not None:
                small = unpacked(packed)
                return StoredRun({"head": head, **small}, last_hash, wake, {}, small)
            bodies = _all(db, "select name, body from sections where run = ? order by name, part", run)
        sections: dict[str, bytes] = {"head": head}
        parts: dict[str, int] = {}
        for name, body in bodies:
            if name in sections:
                parts[name] = parts.get(name, 1) + 1
                sections[name] += body
            else:
                sections[name] = body
        return StoredRun(sections, last_hash, wake, parts, None)

    def live(self, run: RunId) -> LiveRun | None:
        """The run as it was at its last durable commit."""
        with reading(run):
            found = self.load(run)
            return None if found is None else load_run(found.sections)

    # for recovery and alarms

    def due(self, now: int, after: tuple[int, RunId], limit: int) -> list[tuple[int, RunId]]:
        """Waiting runs whose alarm is due, with its time, behind `after`, earliest first."""
        query = (
            "select wake, run from runs where busy = 0 and wake is not null and wake <= ? and (wake, run) > (?, ?)"
            " order by wake, run limit ?"
        )
        with self.snapshot() as db:
            return [(wake, RunId(run)) for wake, run in _all(db, query, now, *after, limit)]

    def next_wake(self) -> int | None:
        """The time of the first alarm of a waiting run."""
        with self.snapshot() as db:
            found: int | None = db.execute("select min(wake) from runs where busy = 0 and wake is not null").get
        return found

    def busy(self, after: RunId, limit: int) -> list[RunId]:
        """Runs with running tasks or tokens that can move, by name."""
        query = "select run from runs where busy = 1 and run > ? order by run limit ?"
        with self.snapshot() as db:
            return [RunId(run) for (run,) in _all(db, query, after, limit)]

    def inbox(self, after: int, limit: int) -> list[tuple[int, RunId, bytes]]:
        """Stored messages that are not handled yet, oldest first."""
        query = "select id, run, body from inbox where id > ? order by id limit ?"
        with self.snapshot() as db:
            return [(number, RunId(run), body) for number, run, body in _all(db, query, after, limit)]

    def inbox_size(self) -> int:
        """How many messages are stored and not handled yet."""
        with self.snapshot() as db:
            found: int = db.execute("select count(*) from inbox").get
        return found

    # starts

    def start_key(self, workflow: str, key: str) -> StartKey | None:
        """The run that a key started."""
        query = "select workflow, key, run, input_hash from start_keys where workflow = ? and key = ?"
        with self.snapshot() as db:
            found = _all(db, query, workflow, key)
        return StartKey(*found[0]) if found else None

    def bundle(self, name: str, version: int | None) -> tuple[bytes, int] | None:
        """A deployed bundle; without a version, the one deployed last."""
        query = "select bundle, version from definitions where name = ? and version = coalesce(?, version)"
        with self.snapshot() as db:
            found = _all(db, f"{query} order by deployed desc limit 1", name, version)
        return (found[0][0], found[0][1]) if found else None

    def deployed(self) -> list[str]:
        """The names of all that was deployed."""
        query = "select distinct name from definitions where deployed > 0 order by name"
        with self.snapshot() as db:
            return [name for (name,) in _all(db, query)]

    def version_of(self, name: str, hash: str) -> int | None:
        """The version with this content."""
        with self.snapshot() as db:
            found: int | None = db.execute(
                "select version from definitions where name = ? and hash = ?", (name, hash)
            ).get
        return found

    def meta(self, key: str) -> Value:
        """A value of the `meta` table; None if there is none."""
        with self.snapshot() as db:
            found: Value = db.execute("select value from meta where key = ?", (key,)).get
        return found


def _all(db: Connection, query: str, *values: Value) -> list[Row]:
    """Every row at once: a cursor left half read would keep its transaction open."""
    return list(db.execute(query, values))


def run_row_of(found: Row) -> RunRow:
    """The row of a run from its columns, `RUN_COLUMNS`."""
    run, workflow, version, status, paused, submitted_at, started_at, ended_at, wake, entries, head = found
    try:
        outcome = _outcome(head)
    except msgspec.DecodeError as problem:  # a damaged run is listed too, with this error
        outcome = _Outcome(RunError("run_damaged", f"its row cannot be read: {describe(problem)}"))
    return RunRow(
        run=run,
        workflow=workflow,
        version=version,
        status=status,
        paused=bool(paused),
        submitted_at=submitted_at,
        started_at=started_at,
        ended_at=ended_at,
        wake=wake,
        entries=entries,
        error=outcome.error,
        output=None if isinstance(outcome.result, UnsetType) else outcome.result,
        parent=outcome.parent,
        forked=outcome.forked,
        trigger=outcome.trigger,
        key=outcome.key,
    )
