"""What a commit puts into the tables, as rows, and the statements that take many of them at once."""

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias

import msgspec
from msgspec.structs import astuple

from jeton.actor.accounts import question, serve_account
from jeton.actor.pack import packed
from jeton.actor.sections import Sections
from jeton.actor.turn import Turn
from jeton.hosts.sqlite.file.bulk import put_many
from jeton.hosts.sqlite.file.connect import Connection, Value
from jeton.hosts.sqlite.file.failpoints import hit
from jeton.hosts.sqlite.loop.actor import Actor, Listed
from jeton.model.effect import SendMessage
from jeton.model.ids import RunId
from jeton.model.message import CreditsAsked, CreditsClosed
from jeton.model.state.credits import ACCOUNT
from jeton.model.state.run import Head

PART_BYTES = 1_000_000
SMALL_BYTES = 500  # with these its row still fits where SQLite keeps it in one piece
_encode = msgspec.json.Encoder().encode

SectionRow: TypeAlias = tuple[str, str, int, bytes]
GoneRow: TypeAlias = tuple[str, str, int]

_JOURNAL = "insert into journal(run, number, hash, body) values(?, ?, ?, ?)"
_SECTIONS = "insert or replace into sections(run, name, part, body) values(?, ?, ?, ?)"
_GONE = "delete from sections where run = ? and name = ? and part >= ?"
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
_ONWARD = """
update runs
set wake = v.column2, entries = v.column3, hash = v.column4, head = v.column5, small = v.column6
from (values(?, ?, ?, ?, ?, ?)) as v
where run = v.column1
"""
_KEYS = "insert into start_keys(workflow, key, run, input_hash) values(?, ?, ?, ?)"
_POST = "insert into inbox(run, body) values(?, ?)"
_ANSWERED = "delete from inbox where id = ?"
_WAKE = "update runs set wake = ?, busy = ? where run = ?"


class Write:
    """One turn of one run on its way to the disk."""

    __slots__ = ("actor", "answered", "gone", "key", "onward", "posted", "sections", "sent", "small", "turn")

    def __init__(self, actor: Actor, turn: Turn) -> None:
        self.actor = actor
        self.turn = turn
        self.answered, actor.answering = actor.answering, []
        self.key, actor.key = actor.key, None
        self.sent = turn.messages
        self.posted: list[tuple[int, SendMessage]] = []  # those, with their numbers in the inbox
        self.sections: list[SectionRow] = []
        self.gone: list[GoneRow] = []
        self.small: bytes | None = None
        self.onward = False  # lists show the same of it as before: their indexes are left alone
        if turn.entry is not None:
            listed = _listed(turn.head)
            self.onward, actor.listed = listed == actor.listed, listed
            self._lay(actor, turn.sections)

    def _lay(self, actor: Actor, sections: Sections) -> None:
        """A small run lies in its row. Once it has outgrown that, its sections have rows of their own, for good."""
        small = actor.small
        if small is None:
            self._divide(actor.run, sections, actor.parts)
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
            self._divide(actor.run, small, actor.parts)

    def _divide(self, run: RunId, sections: Mapping[str, bytes | None], parts: dict[str, int]) -> None:
        """`parts` remembers which sections lie in several rows, so that the others cost no second look."""
        for name, body in sections.items():
            if name == "head":
                continue  # it lies in the run's row
            if body is None:
                parts.pop(name, None)
                self.gone.append((run, name, 0))
            elif len(body) <= PART_BYTES and name not in parts:
                self.sections.append((run, name, 0, body))
            else:
                count = -(-len(body) // PART_BYTES)
                pieces = (body[part * PART_BYTES : (part + 1) * PART_BYTES] for part in range(count))
                self.sections += [(run, name, part, piece) for part, piece in enumerate(pieces)]
                if count < parts.get(name, 1):
                    self.gone.append((run, name, count))
                parts[name] = count

    def journal(self) -> list[tuple[Value, ...]]:
        """The journal's rows."""
        assert self.turn.entry is not None
        return [(self.actor.run, each.number, each.hash, each.body) for each in (*self.turn.shared, self.turn.entry)]

    def row(self) -> tuple[Value, ...]:
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

    def step(self) -> tuple[Value, ...]:
        """What is new in the run's row when lists show the same as before."""
        turn = self.turn
        return self.actor.run, turn.wake, turn.head.entries, turn.hash, turn.sections["head"], self.small


class Mirror(Protocol):
    """Further tables that follow the runs, in the same transaction."""

    def write(self, db: Connection, writes: Sequence[Write]) -> None:
        """Called on the writer thread with the turns that change something for queries; no run is there twice."""
        ...


def put(db: Connection, writes: Sequence[Write]) -> None:
    """Everything the commits say, table by table. The caller has begun a transaction."""
    changed = [write for write in writes if write.turn.entry is not None]
    if changed:
        put_many(db, _JOURNAL, [row for write in changed for row in write.journal()])
        hit("between_statements")
        sections = [row for write in changed for row in write.sections]
        if sections:
            put_many(db, _SECTIONS, sections)
        gone = [row for write in changed for row in write.gone]
        if gone:
            db.executemany(_GONE, gone)
        hit("between_statements")
        put_many(db, _RUNS, [write.row() for write in changed if not write.onward])
        put_many(db, _ONWARD, [write.step() for write in changed if write.onward])
    keys = [astuple(write.key) for write in writes if write.key is not None]
    if keys:
        put_many(db, _KEYS, keys)
    _post(db, writes)
    answered = [(number,) for write in writes for number in write.answered]
    if answered:
        db.executemany(_ANSWERED, answered)
    alarms = [_alarm(write.turn) for write in writes if write.turn.entry is None]
    if alarms:
        db.executemany(_WAKE, alarms)


def _post(db: Connection, writes: Sequence[Write]) -> None:
    """Messages to other runs, numbered, so that each is handed in once: from memory, or from the table."""
    for write in writes:
        write.posted = []  # the batch may be written a second time, one by one
        for effect in write.sent:
            asked = question(effect)
            if asked is not None:
                answer = _ask_account(db, asked)
                if answer is None:
                    continue
                effect = answer
            db.execute(_POST, (effect.run, _encode(effect.message)))
            write.posted.append((db.last_insert_rowid(), effect))


def _ask_account(db: Connection, asked: CreditsAsked | CreditsClosed) -> SendMessage | None:
    balance: int | None = db.execute("select balance from accounts where name = ?", (ACCOUNT,)).get
    granted: int | None = db.execute("select amount from grants where run = ?", (asked.run,)).get
    served = serve_account(balance, granted, asked)
    db.execute("update accounts set balance = ? where name = ?", (served.balance, ACCOUNT))
    if served.granted:
        db.execute("insert or replace into grants(run, amount) values(?, ?)", (asked.run, served.granted))
    else:
        db.execute("delete from grants where run = ?", (asked.run,))
    return served.answer


def _listed(head: Head) -> Listed:
    return head.status, head.paused, head.started_at, head.ended_at, head.busy > 0 and not head.ended


def _alarm(turn: Turn) -> tuple[Value, ...]:
    head = turn.head
    return turn.wake, head.busy > 0 and not head.ended, head.run
