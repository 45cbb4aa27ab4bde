"""The host protocol: everything the engine asks of a host, and nothing of how a host does it.

A host keeps state, delivers messages and carries out effects, by nine laws. Each has a test that kills, repeats or
reorders:

1. Batches of one actor never overlap.
2. A commit is all or nothing.
3. An accepted message takes part in exactly one commit.
4. A task runs at least once; its result counts once, by token and attempt.
5. One alarm per actor, never early; the actor ignores stale ones.
6. No order between senders is promised.
7. Replaying a batch gives the same commit: time and identity come in with the message.
8. After the outcome, messages are no-ops.
9. Nothing leaves (effect, reply, event) before its commit is durable.

A host holds no rule of the graph. It decides how bytes are stored, found, locked and woken; what is decided comes from
`jeton.actor` as plain values.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Protocol

from jeton.actor.access.store import AccessStore
from jeton.actor.advance import LiveRun
from jeton.actor.queries.listing import Listing
from jeton.actor.queries.vitals import Census, Vitals
from jeton.actor.retention import Pruned, Rule
from jeton.actor.rows import (
    Account,
    EntryPlace,
    FiringRow,
    GateRow,
    LinePage,
    PlacedEntry,
    Published,
    RunRow,
    TreePositions,
    TriggerRow,
    Usage,
)
from jeton.actor.starts import NewFork, NewRun, Started
from jeton.executor.artifacts import Artifacts
from jeton.executor.event_sink import CurrentMetric, EventSink
from jeton.executor.limits.idempotency import IdempotencyStore
from jeton.executor.mcp.pins import PinStore
from jeton.executor.memory import MemoryStore
from jeton.model.definition.trigger import Trigger
from jeton.model.definition.workflow import Library
from jeton.model.entry import Entry
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.message import Message
from jeton.model.state.run import RunStatus
from jeton.planning.triggers.firing import Delivery


class Reads(Protocol):
    """Queries. They need no ownership, change nothing, and see durable commits only."""

    async def row(self, run: RunId) -> RunRow | None:
        """A run, as lists show it."""
        ...

    async def rows(
        self,
        *,
        workflow: str | None = None,
        status: RunStatus | None = None,
        after: RunId | None = None,
        limit: int = 100,
        conversations: bool = False,
    ) -> list[RunRow]:
        """Runs, or conversations, newest first. `after` is the last one of the previous page."""
        ...

    async def children(self, run: RunId) -> list[RunRow]:
        """The runs that a run called, in order."""
        ...

    async def gates(self, run: RunId | None = None) -> list[GateRow]:
        """Open gates, oldest first: of one run, or of all."""
        ...

    async def entries(self, run: RunId, after: int = -1) -> list[Entry]:
        """A run's journal behind an entry, oldest first."""
        ...

    async def stretch(self, run: RunId, first: int, last: int) -> list[Entry]:
        """A run's entries from one number to another, both included, oldest first."""
        ...

    async def oldest(self, run: RunId) -> int | None:
        """The number of the oldest stored entry of a run; None if it has none. Those before it were pruned."""
        ...

    async def place(self, run: RunId, event: int) -> EntryPlace | None:
        """The stored entry that has this event, or is the last one before it; None if there is none.

        Costs the logarithm of the journal's length."""
        ...

    # the line of positions

    async def census(self) -> Census:
        """All runs, counted. It looks at each of them, and is meant for once."""
        ...

    async def head(self) -> int:
        """The last position of the line; 0 if there is none."""
        ...

    async def line(self, after: int = 0, limit: int = 500, within: RunId | None = None) -> LinePage:
        """Entries of all runs behind a position; `within`: only those of a run and of the runs it called.

        Costs what there is behind the position, of which only the entries that are given are decoded."""
        ...

    async def tree_positions(self, run: RunId, after: int = 0) -> TreePositions:
        """The positions behind `after` that a run has, and those of the runs it called."""
        ...

    async def placed(self, positions: Sequence[int]) -> list[PlacedEntry]:
        """The entries at these positions, without those that were pruned."""
        ...

    async def unended(self, run: RunId) -> int:
        """How many have not ended, of a run and the runs it called."""
        ...

    async def changed(self, after: int, run: RunId | None = None) -> None:
        """Wait until the line is longer than this. Raises Refused if the store fails, or if `run` is damaged."""
        ...

    # what happens

    def watch(self, run: RunId, after: int = -1) -> AsyncIterator[Entry]:
        """A run's entries behind `after`: those stored, then each after its commit, until the run has ended."""
        ...

    async def live(self, run: RunId) -> LiveRun | None:
        """A copy of the run's state at its last durable commit."""
        ...

    async def bundle(self, name: str, version: int | None = None) -> tuple[Library, int] | None:
        """A version of a workflow with all it calls; without a number, the version deployed last."""
        ...

    async def deployed(self) -> list[str]:
        """The names of all that was deployed: workflows, flows, and agents as `agent:NAME`."""
        ...

    async def triggers(self) -> list[TriggerRow]:
        """All triggers, by name."""
        ...

    async def firings(
        self, *, trigger: str | None = None, run: RunId | None = None, limit: int = 100
    ) -> list[FiringRow]:
        """Results of deliveries, newest first: to one trigger, or the one that started a run."""
        ...

    async def fired_by(self, run: RunId, limit: int = 100) -> list[FiringRow]:
        """Results of the events that a run published, and of its end, oldest first."""
        ...

    async def disabled(self) -> frozenset[str]:
        """The workflows and flows that no trigger may start."""
        ...

    async def account(self) -> Account | None:
        """The project's credit account, if it has one."""
        ...

    async def usage(
        self, *, run: RunId | None = None, workflow: str | None = None, day: str | None = None, below: bool = False
    ) -> list[Usage]:
        """What was used, by run, node and day; with `below`, also by the runs that a run called."""
        ...

    async def published(
        self, *, run: RunId | None = None, event: str | None = None, after: int = 0, limit: int = 100
    ) -> list[Published]:
        """Events that actions published behind a number, oldest first."""
        ...

    async def metrics(self, run: RunId | None = None) -> list[CurrentMetric]:
        """The metrics of a run, or of all runs there ever were."""
        ...


class Host(Protocol):
    """Stores runs and advances them. Every write is durable when its call returns."""

    @property
    def reads(self) -> Reads:
        """Queries."""
        ...

    @property
    def needs_app(self) -> Mapping[RunId, str]:
        """Runs that are parked because a Python function of theirs is not here, and the function's name."""
        ...

    @property
    def set_aside(self) -> Mapping[RunId, Refused]:
        """Runs that are left alone, because the process ended several times while it advanced them."""
        ...

    def now(self) -> int:
        """The current time for messages, in milliseconds. It passes evenly while the process lives."""
        ...

    def wall(self) -> int:
        """The system clock's time, in milliseconds."""
        ...

    def new_id(self) -> str:
        """An id for a message or a delivery that no other has."""
        ...

    # what the executor uses

    @property
    def artifacts(self) -> Artifacts:
        """The artifacts that the runs hold."""
        ...

    @property
    def idempotency(self) -> IdempotencyStore:
        """The idempotency keys of actions."""
        ...

    @property
    def events(self) -> EventSink:
        """Where events and metrics of actions go."""
        ...

    @property
    def pins(self) -> PinStore:
        """What tools of MCP servers were when they were first used. Needs no ownership."""
        ...

    @property
    def access(self) -> AccessStore:
        """The keys, sessions and saved queries of a server. Needs no ownership."""
        ...

    @property
    def listing(self) -> Listing:
        """Lists of the store for servers."""
        ...

    @property
    def memory(self) -> MemoryStore:
        """The memories of agents. Without ownership they can be read and deleted, and not written."""
        ...

    async def vitals(self) -> Vitals:
        """How the host fares."""
        ...

    # definitions and triggers

    async def deploy(self, bundle: Library, name: str) -> int:
        """The version number of a bundle: that of the same content, or a new one. New runs get it from now on."""
        ...

    async def deploy_triggers(
        self, triggers: Mapping[str, Trigger], *, file: str = "", origins: Sequence[str] = ()
    ) -> list[str]:
        """Store triggers by name, declared in `file`, or each with what it starts.

        Removes those that were declared in `origins` and are not among them. Returns the removed names."""
        ...

    async def remove_trigger(self, name: str) -> bool:
        """Remove a trigger. Returns False if there was none."""
        ...

    async def set_disabled(self, workflow: str, disabled: bool) -> None:
        """Set whether triggers may start a workflow or flow."""
        ...

    async def fire(self, trigger: Trigger, delivery: Delivery) -> FiringRow:
        """Deliver something to a trigger. The same delivery fires once."""
        ...

    # credits

    async def open_account(self, declared: int) -> None:
        """Open the project's account, or change what its settings declare."""
        ...

    async def top_up(self, amount: int) -> bool:
        """Add credits to the project's account. Returns False if there is none."""
        ...

    # runs

    async def start(self, new: NewRun) -> Started:
        """Start a run, unless its key or its name says that it was started before."""
        ...

    async def fork(self, fork: NewFork) -> RunId:
        """Start a run that shares another run's history up to an entry."""
        ...

    async def deliver(self, run: RunId, message: Message) -> None:
        """Send a run a message. Without ownership it is left for the owner to deliver."""
        ...

    async def ended(self, run: RunId) -> RunRow:
        """Wait until a run has ended."""
        ...

    async def idle(self) -> None:
        """Wait until nothing can go on by itself: all runs have ended, or wait for a time or for people."""
        ...

    async def prune(self, rules: Sequence[Rule], *, dry_run: bool = False) -> Pruned:
        """Prune ended runs by the rules, in small steps, so that other runs do not wait for it."""
        ...

    async def close(self, grace_s: float = 5.0) -> None:
        """Accept nothing more, let running tasks finish within the grace time, and leave the rest to the next owner."""
        ...
