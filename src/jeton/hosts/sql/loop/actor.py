"""One run in memory: its state, its pending messages, and its running attempts."""

from asyncio import Future
from typing import TypeAlias

from jeton.actor.advance import LiveRun
from jeton.actor.journal import JournalEntry, first_hash
from jeton.actor.queries.snapshots import snapshot_policy
from jeton.actor.starts import StartKey
from jeton.hosts.sql.store import StoredRun
from jeton.model.definition.workflow import Library
from jeton.model.ids import TokenId
from jeton.model.message import Message, TaskNoted, TaskStarted
from jeton.model.state.run import RunStatus
from jeton.planning.program.workflow import Program

Attempt: TypeAlias = tuple[TokenId, int]
Listed: TypeAlias = tuple[RunStatus, bool, int | None, int | None, bool]
"""Status, paused, started at, ended at, busy."""


class Actor:
    """Takes a batch of messages, and no other until that one is durable. Only the event loop uses it."""

    __slots__ = (
        "alarm_pending",
        "batch_callers",
        "bundle",
        "callers",
        "flush_scheduled",
        "hash",
        "inbox_rows",
        "key",
        "listed",
        "live",
        "notices",
        "parts",
        "pending",
        "policy",
        "program",
        "queued",
        "run",
        "running",
        "shared",
        "small",
        "wake",
        "writing",
    )

    def __init__(self, live: LiveRun, program: Program, bundle: Library, before: StoredRun | None) -> None:
        self.run = live.state.head.run
        self.live = live
        self.program = program
        self.bundle = bundle
        self.hash = first_hash(self.run) if before is None else before.hash
        self.parts: dict[str, int] = {} if before is None else before.parts
        self.small: dict[str, bytes] | None = {} if before is None else before.small
        self.listed: Listed | None = None  # the listed columns as last written; None: not known
        self.wake = None if before is None else before.wake
        self.pending: list[Message] = []
        self.notices: list[TaskStarted | TaskNoted] = []  # part of the next batch, but no reason for one
        self.callers: list[tuple[Message, Future[None]]] = []  # waiting for the next batch to be durable
        self.batch_callers: list[tuple[Message, Future[None]]] = []  # waiting for the current batch
        self.inbox_rows: list[int] = []  # the inbox rows of pending messages
        self.running: set[Attempt] = set()  # attempts that a worker of this process has
        self.key: StartKey | None = None  # to be stored with the first commit
        self.shared: tuple[JournalEntry, ...] = ()  # likewise: the history shared with another run
        self.policy = snapshot_policy(bundle.settings)
        self.flush_scheduled = False  # of notices
        self.queued = False
        self.alarm_pending = False
        self.writing = False
