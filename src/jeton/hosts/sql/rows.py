"""The rows of a commit, and the statements that write many of them at once."""

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias

import msgspec
from msgspec.structs import astuple

from jeton.actor.accounts import account_request, day_account, day_request, serve_account, serve_day_account
from jeton.actor.pack import packed
from jeton.actor.sections import Sections
from jeton.actor.starts import StartKey
from jeton.actor.turn import Turn
from jeton.actor.whole.digests import row_digest
from jeton.hosts.sql.bulk import insert_many
from jeton.hosts.sql.connection import Connection, JournalRow, Value, upsert
from jeton.hosts.sql.failpoints import hit
from jeton.hosts.sql.inbox import put_messages
from jeton.hosts.sql.loop.actor import Actor, Listed
from jeton.model.effect import SendMessage
from jeton.model.ids import RunId
from jeton.model.message import BudgetAsked, BudgetSettled, CreditsAsked, CreditsClosed
from jeton.model.state.credits import ACCOUNT
from jeton.model.state.run import Head

PART_BYTES = 1_000_000
SMALL_BYTES = 500  # the largest with which a row still fits into one page of SQLite
_encode = msgspec.json.Encoder().encode

SectionRow: TypeAlias = tuple[str, str, int, bytes]
DeletedSection: TypeAlias = tuple[str, str, int]

_SECTIONS = upsert("sections", ("run", "name", "part"), ("body",))
_DELETE_SECTIONS = "delete from sections where run = ? and name = ? and part >= ?"
_RUNS = """
insert into runs(
    run, workflow, version, status, paused, submitted_at, started_at, ended_at, wake, busy, entries, hash, head, small,
    parent
)
values(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict(run) do update set
    status = excluded.status, paused = excluded.paused, started_at = excluded.started_at, ended_at = excluded.ended_at,
    wake = excluded.wake, busy = excluded.busy, entries = excluded.entries, hash = excluded.hash, head = excluded.head,
    small = excluded.small
"""
_GRANT = upsert("grants", ("run",), ("amount", "digest"))
_ACCOUNT = upsert("accounts", ("name",), ("balance", "declared", "digest"))
_KEYS = "insert into start_keys(workflow, key, run, input_hash, digest) values(?, ?, ?, ?, ?)"
_HANDLED = "delete from inbox where id = ?"
_WAKE = "update runs set wake = ?, busy = ? where run = ?"


class Write:
    """One turn of one run, to be written."""

    __slots__ = (
        "actor",
        "deleted",
        "inbox_rows",
        "key",
        "messages",
        "progress_only",
        "sections",
        "small",
        "stored_messages",
        "turn",
    )

    def __init__(self, actor: Actor, turn: Turn) -> None:
        self.actor = actor
        self.turn = turn
        self.inbox_rows, actor.inbox_rows = actor.inbox_rows, []
        self.key, actor.key = actor.key, None
        self.messages = turn.messages
        self.stored_messages: list[tuple[int, SendMessage]] = []  # with their numbers in the inbox
        self.sections: list[SectionRow] = []
        self.deleted: list[DeletedSection] = []
        self.small: bytes | None = None
        self.progress_only = False  # the listed columns are unchanged, so their indexes need no update
        if turn.entry is not None:
            listed = _listed(turn.head)
            self.progress_only, actor.listed = listed == actor.listed, listed
            self._put_sections(actor, turn.sections)

    def _put_sections(self, actor: Actor, sections: Sections) -> None:
        """Keep the sections of a small run in its row. Once they are too large, they have their own rows for good."""
        small = actor.small
        if small is None:
            self._split(actor.run, sections, actor.parts)
            return
        for name, body in sections.items():
            if body is None:
                small.pop(name, None)
            elif name != "head":
                small[name] = body
        body = packed(small)
        if len(body) <= SMALL_BYTES:
            self.small = body
        else:
            actor.small = None
            self._split(actor.run, small, actor.parts)

    def _split(self, run: RunId, sections: Mapping[str, bytes | None], parts: dict[str, int]) -> None:
        """Split sections into rows of bounded size. `parts` counts the rows of those that have more than one."""
        for name, body in sections.items():
            if name == "head":
                continue  # it is in the run's row
            if body is None:
                parts.pop(name, None)
                self.deleted.append((run, name, 0))
            elif len(body) <= PART_BYTES and name not in parts:
                self.sections.append((run, name, 0, body))
            else:
                count = -(-len(body) // PART_BYTES)
                pieces = (body[part * PART_BYTES : (part + 1) * PART_BYTES] for part in range(count))
                self.sections += [(run, name, part, piece) for part, piece in enumerate(pieces)]
                if count < parts.get(name, 1):
                    self.deleted.append((run, name, count))
                parts[name] = count

    def journal_rows(self) -> list[JournalRow]:
        """The journal's rows."""
        assert self.turn.entry is not None
        return [(self.actor.run, each.number, each.hash, each.body) for each in (*self.turn.shared, self.turn.entry)]

    def run_row(self) -> tuple[Value, ...]:
        """The run's row."""
        turn, head = self.turn, self.turn.head
        return (
            head.run,
            head.workflow,
            head.version,
            head.status,
            head.paused,
            head.submitted_at,
            head.started_at,
            head.ended_at,
            turn.wake,
            head.busy > 0 and not head.ended,
            head.entries,
            turn.hash,
            turn.sections["head"],
            self.small,
            None if head.parent is None else head.parent.run,
        )

    def progress_row(self) -> tuple[Value, ...]:
        """The columns of the run's row that change when the listed ones do not."""
        turn = self.turn
        return self.actor.run, turn.wake, turn.head.entries, turn.hash, turn.sections["head"], self.small


class Mirror(Protocol):
    """Further tables that are written in the same transaction as the runs."""

    def write(self, db: Connection, writes: Sequence[Write]) -> None:
        """Called on the writer thread with the turns that change something for queries; no run is there twice."""
        ...


def put_writes(db: Connection, writes: Sequence[Write]) -> None:
    """Write commits, table by table. The caller has begun a transaction."""
    changed = [write for write in writes if write.turn.entry is not None]
    if changed:
        db.dialect.append_entries(db, [row for write in changed for row in write.journal_rows()])
        hit("between_statements")
        sections = [row for write in changed for row in write.sections]
        if sections:
            insert_many(db, _SECTIONS, sections)
        deleted = [row for write in changed for row in write.deleted]
        if deleted:
            db.executemany(_DELETE_SECTIONS, deleted)
        hit("between_statements")
        insert_many(db, _RUNS, [write.run_row() for write in changed if not write.progress_only])
        insert_many(db, db.dialect.progress, [write.progress_row() for write in changed if write.progress_only])
    keys = [_key_row(write.key) for write in writes if write.key is not None]
    if keys:
        insert_many(db, _KEYS, keys)
    _put_messages(db, writes)
    handled = [(number,) for write in writes for number in write.inbox_rows]
    if handled:
        db.executemany(_HANDLED, handled)
    alarms = [_wake_row(write.turn) for write in writes if write.turn.entry is None]
    if alarms:
        db.executemany(_WAKE, alarms)


def _put_messages(db: Connection, writes: Sequence[Write]) -> None:
    """Store messages to other runs, numbered, so that each is delivered once: from memory, or from the table."""
    sent: list[tuple[Write, SendMessage]] = []
    for write in writes:
        write.stored_messages = []  # after a failure the writes of a batch are repeated one by one
        for effect in write.messages:
            request, daily = account_request(effect), day_request(effect)
            answer: SendMessage | None = effect
            if request is not None:
                answer = _serve_account(db, request)
            elif daily is not None:
                answer = _serve_day(db, daily)
            if answer is not None:
                sent.append((write, answer))
    if sent:
        numbers = put_messages(db, [(effect.run, _encode(effect.message)) for _, effect in sent])
        for number, (write, effect) in zip(numbers, sent, strict=True):
            write.stored_messages.append((number, effect))


def _serve_account(db: Connection, request: CreditsAsked | CreditsClosed) -> SendMessage | None:
    found = stored_account(db, ACCOUNT)
    granted: int | None = db.execute("select amount from grants where run = ?", (request.run,)).get
    served = serve_account(None if found is None else found[0], granted, request)
    if found is not None:
        put_account(db, served.balance, found[1])
    if served.granted:
        digest = row_digest("grants", request.run, served.granted)
        db.execute(_GRANT, (request.run, served.granted, digest))
    else:
        db.execute("delete from grants where run = ?", (request.run,))
    return served.answer


def _serve_day(db: Connection, request: BudgetAsked | BudgetSettled) -> SendMessage | None:
    name = day_account(request)
    used, added = stored_account(db, name) or (0, 0)
    served = serve_day_account(used, added, request)
    put_account(db, served.used, served.added, name)
    return served.answer


def stored_account(db: Connection, name: str) -> tuple[int, int] | None:
    """The balance of an account and what was declared for it. Nobody else changes it until the transaction ends."""
    db.dialect.lock(db, f"account {name}")
    found = list(db.execute("select balance, declared from accounts where name = ?", (name,)))
    return (found[0][0], found[0][1]) if found else None


def put_account(db: Connection, balance: int, declared: int, name: str = ACCOUNT) -> None:
    """Store the project's account, or that of an agent and day."""
    digest = row_digest("accounts", name, balance, declared)
    db.execute(_ACCOUNT, (name, balance, declared, digest))


def _key_row(key: StartKey) -> tuple[Value, ...]:
    row = astuple(key)
    return *row, row_digest("start_keys", *row)


def _listed(head: Head) -> Listed:
    return head.status, head.paused, head.started_at, head.ended_at, head.busy > 0 and not head.ended


def _wake_row(turn: Turn) -> tuple[Value, ...]:
    head = turn.head
    return turn.wake, head.busy > 0 and not head.ended, head.run
