"""The state of a run: its head, tokens, groups, slots and context.

Values are immutable and replaced; only a `Draft` writes to the tables that hold them. Ended tokens leave the tables,
so a run's state is as large as what is under way in it.
"""

from typing import Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from jeton.model.chat import Speaker
from jeton.model.failure import RunError
from jeton.model.ids import GroupId, RunId, SlotId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.state.credits import Purse
from jeton.model.state.flow_run import FlowState
from jeton.model.state.phase import Continuation, GateAnswer, Phase, Sleeping
from jeton.model.state.ranges import Ranges
from jeton.model.state.talk import TalkState
from jeton.model.times import rfc3339

RunStatus: TypeAlias = Literal[
    "submitted", "running", "waiting", "completed", "failed", "cancelled", "timed_out", "exhausted"
]
TokenEnd: TypeAlias = Literal["completed", "failed", "timed_out", "cancelled"]
SLOTS_PER_STRETCH = 32
TERMINAL: frozenset[RunStatus] = frozenset({"completed", "failed", "cancelled", "timed_out", "exhausted"})


class Slept(msgspec.Struct, frozen=True):
    """A sleep that is over. A sleep that ends no later than `woken_at` is this one or an earlier one."""

    name: str
    woken_at: int


class Token(msgspec.Struct, frozen=True, omit_defaults=True):
    """A point of progress in a run, at one node."""

    id: TokenId
    node: str
    path: str
    phase: Phase
    slot: SlotId | None = None
    loops: dict[int, int] = {}  # by transition: how often this lineage followed it
    error: JsonObject | None = None  # `state._last_error`, as this lineage sees it
    attempt: int = 1
    input: Json | UnsetType = UNSET  # unset: the run's own input
    abandoned: bool = False  # its fan-in opened without it; it may finish, and changes nothing
    reserved: int = 0  # credits that were taken for it
    cost: int | None = None  # the credits that its action reported
    slept: Slept | None = None  # the last sleep of its task that is over
    continuation: Continuation | None = None  # what its task left behind when it gave its worker back

    @property
    def last_sleep(self) -> str | None:
        """The name of the last sleep of its task: steps taken before it are part of the history."""
        if isinstance(self.phase, Sleeping):
            return self.phase.name
        return None if self.slept is None else self.slept.name

    @property
    def continued(self) -> int:
        """How often its task gave its worker back."""
        return 0 if self.continuation is None else self.continuation.number

    def entering(self, phase: Phase) -> "Token":
        """The token in another phase."""
        return msgspec.structs.replace(self, phase=phase)


class Segment(msgspec.Struct, frozen=True, omit_defaults=True):
    """The slots that one transition adds to a group: a range of its indices."""

    transition: int
    first: int
    count: int
    items: list[Json] | None = None
    max_parallel: int | None = None


class Group(msgspec.Struct, frozen=True, omit_defaults=True):
    """A sibling group. It never changes; its `Progress` does."""

    id: GroupId
    name: str
    node: str
    origin: TokenId
    path: str
    total: int
    segments: tuple[Segment, ...]
    outer: SlotId | None = None
    loops: dict[int, int] = {}
    error: JsonObject | None = None  # the last error, which the branches inherit

    def segment_of(self, index: int) -> int:
        """The number of the segment that a slot is in."""
        for number, segment in enumerate(self.segments):
            if index < segment.first + segment.count:
                return number
        raise IndexError(index)

    def stretches(self) -> range:
        """The numbers of the stretches that its slots are stored in."""
        return range(-(-self.total // SLOTS_PER_STRETCH))

    def item(self, index: int) -> Json:
        """The list item of a slot; None if the group is not from a list."""
        segment = self.segments[self.segment_of(index)]
        return None if segment.items is None else segment.items[index - segment.first]


class FanIn(msgspec.Struct, frozen=True):
    """A fan-in that a slot has arrived at. `transition` defines its synchronization."""

    transition: int
    arrived: int
    since: int
    deadline: int | None = None


class Progress(msgspec.Struct, frozen=True, omit_defaults=True):
    """The progress of a group, as counters, so that nothing is counted by scanning."""

    live: int  # slots not settled, including those not created yet
    started: tuple[int, ...]  # by segment: slots created
    flying: tuple[int, ...]  # by segment: slots created and not settled
    fan_ins: dict[str, FanIn] = {}  # by target node, until they open
    opened: bool = False
    needed: dict[str, int] = {}  # by target node: the quorum of a fan-in that took it from data


class Slot(msgspec.Struct, frozen=True, omit_defaults=True):
    """One live branch. `tokens` and `groups` are what is under way in it, derived from the other tables."""

    output: JsonObject = {}
    reached: tuple[GroupId, str, int] | None = None  # the fan-in that a token of it reached: group, node, transition
    waiting: tuple[TokenId, ...] = ()  # the tokens that reached it
    laid: tuple[tuple[GroupId, int, JsonObject], ...] = ()  # outputs of inner slots that left their group
    tokens: tuple[TokenId, ...] = ()
    groups: tuple[GroupId, ...] = ()

    @property
    def quiet(self) -> bool:
        return not self.tokens and not self.groups


ArrivedId: TypeAlias = tuple[GroupId, str, int]
"""A stretch of the slots that arrived at a fan-in: group, node, and number of the stretch."""


class Arrived(msgspec.Struct, frozen=True, omit_defaults=True):
    """A stretch of the slots that wait at a fan-in, with their tokens and values.

    A slot that never wrote the merge's source has no value, which is not the same as null.
    """

    slots: Ranges = ()
    tokens: Ranges = ()
    values: dict[int, Json] = {}


class Parent(msgspec.Struct, frozen=True, omit_defaults=True):
    """The run and token that called this run, and the root of the tree."""

    run: RunId
    token: TokenId
    root: RunId
    depth: int  # 1 for a child of the root
    inherit_artifacts: bool = False
    speaker: Speaker | None = None  # the agent that the tree of runs works for, if a conversation called it
    waiting: tuple[tuple[RunId, TokenId], ...] = ()  # conversations that wait for this run, and their calls


class Fork(msgspec.Struct, frozen=True):
    """The run whose history this one shares, up to an entry."""

    run: RunId
    entry: int


class Signal(msgspec.Struct, frozen=True, omit_defaults=True):
    """A signal that no token has taken yet."""

    value: Json


class EarlyAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """An answer to a gate that is not open yet, kept until it opens."""

    node: str
    path: str
    answer: GateAnswer


class FiredBy(msgspec.Struct, frozen=True, omit_defaults=True):
    """What triggered a run."""

    type: str
    depth: int = 0
    id: str | None = None
    node: str | None = None  # the trigger node at which a flow begins
    source: str | None = None  # the run, address or time that caused it


class Head(msgspec.Struct, omit_defaults=True):
    """The run's own fields and counters. Changed in place, and copied before each message."""

    run: RunId
    workflow: str
    version: int = 1
    status: RunStatus = "submitted"
    paused: bool = False
    next_token: int = 0
    next_group: int = 0
    next_signal: int = 0
    next_early: int = 0
    next_turn: int = 0
    executions: int = 0
    busy: int = 0  # tokens pending, dispatched or executing
    parked: int = 0  # tokens waiting for a time, a retry, a child, people or a signal
    alive: int = 0  # tokens not ended: the two above, those at fan-ins, and abandoned ones
    submitted_at: int = 0
    started_at: int | None = None
    ended_at: int | None = None
    deadline: int | None = None
    error: RunError | None = None
    result: Json | UnsetType = UNSET
    entries: int = 0
    events: int = 0
    parent: Parent | None = None
    forked: Fork | None = None
    trigger: FiredBy | None = None
    purse: Purse | None = None
    key: str | None = None  # that it was started with
    model_cost: int = (
        0  # of a run that works for an agent, and of those below: by model calls, in millionths of a credit
    )

    @property
    def root(self) -> RunId:
        return self.run if self.parent is None else self.parent.root

    @property
    def depth(self) -> int:
        return 0 if self.parent is None else self.parent.depth

    @property
    def ended(self) -> bool:
        return self.status in TERMINAL


def facts_of(head: Head) -> JsonObject:
    """What expressions read as `run`."""
    fired = head.trigger
    return {
        "id": head.run,
        "root_id": head.root,
        "workflow": head.workflow,
        "version": head.version,
        "key": head.key,
        "started_at": None if head.started_at is None else rfc3339(head.started_at),
        "trigger": None if fired is None else {"type": fired.type, "id": fired.id, "depth": fired.depth},
    }


class RunState:
    """The tables of a run. Only a `Draft` writes to them."""

    __slots__ = (
        "_facts",
        "_flow",
        "_talk",
        "arrived",
        "early",
        "groups",
        "head",
        "heard",
        "input",
        "lent",
        "output",
        "progress",
        "signals",
        "slots",
        "state",
        "tokens",
        "waiters",
    )

    def __init__(self, head: Head, input: Json = None) -> None:
        self.head = head
        self.input = input
        self.state: JsonObject = {}
        self.output: JsonObject = {}
        self.tokens: dict[TokenId, Token] = {}
        self.groups: dict[GroupId, Group] = {}
        self.progress: dict[GroupId, Progress] = {}
        self.slots: dict[SlotId, Slot] = {}
        self.arrived: dict[ArrivedId, Arrived] = {}
        self.signals: dict[str, dict[int, Signal]] = {}  # by name, oldest first: not taken yet
        self.heard: dict[str, int] = {}  # keys of signals received, with their times
        self.early: dict[int, EarlyAnswer] = {}  # oldest first
        self.lent: dict[RunId, int] = {}  # credits given to runs below that are not over
        self._flow: FlowState | None = None
        self._talk: TalkState | None = None
        self._facts: JsonObject | None = None  # derived from the head, when asked for
        self.waiters: dict[str, dict[TokenId, None]] = {}  # by signal, in order of arrival; derived from the tokens

    def take_input(self, given: Json) -> None:
        """Set the run's input, also in the flow's state if that exists already."""
        self.input = given
        if self._flow is not None:
            self._flow.input = given

    @property
    def facts(self) -> JsonObject:
        """What expressions read as `run`: fixed when the run starts. Not to be changed."""
        known = self._facts
        if known is None:
            known = self._facts = facts_of(self.head)
        return known

    def renew_facts(self) -> None:
        """Derive `facts` anew: the run has started, or has another head."""
        self._facts = None

    @property
    def has_flow(self) -> bool:
        """Whether any node of a flow was looked at: always false for a token graph."""
        return self._flow is not None

    @property
    def has_more(self) -> bool:
        """Whether there is anything in it besides input, state and output."""
        tables = self.tokens or self.groups or self.progress or self.slots or self.arrived
        more = self.signals or self.heard or self.early or self.lent
        return bool(tables or more or self._flow is not None or self._talk is not None)

    @property
    def has_talk(self) -> bool:
        """Whether this is a conversation."""
        return self._talk is not None and bool(self._talk.heads)

    @property
    def talk(self) -> TalkState:
        """The turns of a conversation; empty for a run."""
        if self._talk is None:
            self._talk = TalkState()
        return self._talk

    @property
    def flow(self) -> FlowState:
        """The state of a flow's nodes; empty for a token graph."""
        if self._flow is None:
            self._flow = FlowState(self.input)
        return self._flow
