"""One run in memory: its state, what waits for it, and what it has in work."""

from asyncio import Future
from typing import TypeAlias

from jeton.actor.advance import LiveRun
from jeton.actor.journal import JournalEntry, first_hash
from jeton.actor.queries.snapshots import snapshot_policy
from jeton.actor.starts import StartKey
from jeton.hosts.sqlite.store import StoredRun
from jeton.model.definition.workflow import Library
from jeton.model.ids import TokenId
from jeton.model.message import Message, TaskNoted, TaskStarted
from jeton.model.state.run import RunStatus
from jeton.planning.program.workflow import Program

Attempt: TypeAlias = tuple[TokenId, int]
Listed: TypeAlias = tuple[RunStatus, bool, int | None, int | None, bool]
"""Status, paused, started at, ended at, busy."""


class Actor:
    """It takes a batch, and no other until that one is durable. Only the event loop touches it."""

    __slots__ = (
        "answering",
        "asked",
        "askers",
        "began",
        "bundle",
        "hash",
        "key",
        "listed",
        "live",
        "noting",
        "out",
        "parts",
        "policy",
        "program",
        "queued",
        "ringing",
        "run",
        "shared",
        "small",
        "waiting",
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
        self.listed: Listed | None = None  # what lists show of it, as it was written last; not known yet
        self.wake = None if before is None else before.wake
        self.waiting: list[Message] = []
        self.began: list[TaskStarted | TaskNoted] = []  # they ride on the next batch
        self.askers: list[tuple[Message, Future[None]]] = []  # they wait for the batch to come
        self.asked: list[tuple[Message, Future[None]]] = []  # they wait for the batch that is on its way
        self.answering: list[int] = []  # the inbox rows among what waits
        self.out: set[Attempt] = set()  # with a worker of this process
        self.key: StartKey | None = None  # to be stored with its first commit
        self.shared: tuple[JournalEntry, ...] = ()  # likewise: the history it shares with another run
        self.policy = snapshot_policy(bundle.settings)
        self.noting = False  # notes of its tasks are written soon, if nothing else is
        self.queued = False
        self.ringing = False
        self.writing = False
