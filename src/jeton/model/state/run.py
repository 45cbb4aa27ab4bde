"""All that planning may read of a run: its head, tokens, groups, slots and context.

Values here are frozen and are replaced, never changed; the tables that hold them belong to the run's one writer.
Ended tokens leave the tables (the journal has them), so a run's state is as large as what is under way in it.
"""

from typing import Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from jeton.model.failure import RunError
from jeton.model.ids import GroupId, RunId, SlotId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.state.credits import Purse
from jeton.model.state.flow_run import FlowState
from jeton.model.state.phase import GateAnswer, Phase, Sleeping
from jeton.model.state.ranges import Ranges

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
    """A point of progress: it stands at one node and remembers where it came from."""

    id: TokenId
    node: str
    path: str
    phase: Phase
    slot: SlotId | None = None
    loops: dict[int, int] = {}  # by transition: how often this lineage followed it
    error: JsonObject | None = None  # `state._last_error`, as this lineage sees it
    attempt: int = 1
    input: Json | UnsetType = UNSET  # unset: the run's own input, which need not be kept twice
    abandoned: bool = False  # its slot lost the race; it may finish, and changes nothing
    reserved: int = 0  # credits that were taken for it
    cost: int | None = None  # those that its action says it used
    slept: Slept | None = None  # the last sleep of its task that is over

    @property
    def last_sleep(self) -> str | None:
        """The name of the last sleep of its task: steps taken before it are part of the history."""
        if isinstance(self.phase, Sleeping):
            return self.phase.name
        return None if self.slept is None else self.slept.name

    def entering(self, phase: Phase) -> "Token":
        """The same token in another phase. Written out, because it happens at every step of every run."""
        return Token(
            self.id,
            self.node,
            self.path,
            phase,
            self.slot,
            self.loops,
            self.error,
            self.attempt,
            self.input,
            self.abandoned,
            self.reserved,
            self.cost,
            self.slept,
        )


class Segment(msgspec.Struct, frozen=True, omit_defaults=True):
    """The slots one transition contributes to a group: a stretch of its numbering."""

    transition: int
    first: int
    count: int
    items: list[Json] | None = None
    max_parallel: int | None = None


class Group(msgspec.Struct, frozen=True, omit_defaults=True):
    """A sibling group instance: run, name and the token that fanned out. It never changes; its progress does."""

    id: GroupId
    name: str
    node: str
    origin: TokenId
    path: str
    total: int
    segments: tuple[Segment, ...]
    outer: SlotId | None = None
    loops: dict[int, int] = {}
    error: JsonObject | None = None  # what the branches inherit: a failure can fan out into its handlers

    def segment_of(self, index: int) -> int:
        """Which stretch of the numbering a slot is in."""
        for number, segment in enumerate(self.segments):
            if index < segment.first + segment.count:
                return number
        raise IndexError(index)

    def stretches(self) -> range:
        """The numbers of the stretches its slots are kept in."""
        return range(-(-self.total // SLOTS_PER_STRETCH))

    def item(self, index: int) -> Json:
        """The list item the slot stands for, if it came from a list."""
        segment = self.segments[self.segment_of(index)]
        return None if segment.items is None else segment.items[index - segment.first]


class FanIn(msgspec.Struct, frozen=True):
    """A fan-in some slot has arrived at. `transition` is where its synchronization is written."""

    transition: int
    arrived: int
    since: int
    deadline: int | None = None


class Progress(msgspec.Struct, frozen=True, omit_defaults=True):
    """How far a group is. Counters, so that nothing is counted by scanning; a slot settles once, by identity."""

    live: int  # slots not settled, those not yet materialised among them
    started: tuple[int, ...]  # by segment: how many slots were materialised
    flying: tuple[int, ...]  # by segment: how many of those are not settled
    fan_ins: dict[str, FanIn] = {}  # by the node they lead to, until they open
    opened: bool = False


class Slot(msgspec.Struct, frozen=True, omit_defaults=True):
    """One live branch. `tokens` and `groups` say what is under way in it; they follow from the other tables."""

    output: JsonObject = {}
    reached: tuple[GroupId, str, int] | None = None  # fan-in some token of it reached: group, node, transition
    waiting: tuple[TokenId, ...] = ()  # tokens that did
    laid: tuple[tuple[GroupId, int, JsonObject], ...] = ()  # outputs of inner slots that arrived for this one
    tokens: tuple[TokenId, ...] = ()
    groups: tuple[GroupId, ...] = ()

    @property
    def quiet(self) -> bool:
        return not self.tokens and not self.groups


ArrivedId: TypeAlias = tuple[GroupId, str, int]
"""A stretch of the slots that arrived at one fan-in: its group, its node, and the number of the stretch."""


class Arrived(msgspec.Struct, frozen=True, omit_defaults=True):
    """Slots that wait at a fan-in, a stretch of them together: which, with which tokens, and what they bring.

    A slot that never wrote the merge's source has no value here, which is not the same as null.
    """

    slots: Ranges = ()
    tokens: Ranges = ()
    values: dict[int, Json] = {}


class Parent(msgspec.Struct, frozen=True, omit_defaults=True):
    """Who called this run, and the run at the root of the tree."""

    run: RunId
    token: TokenId
    root: RunId
    depth: int  # 1 for a child of the root
    inherit_artifacts: bool = False


class Fork(msgspec.Struct, frozen=True):
    """Whose history this run shares, up to which entry."""

    run: RunId
    entry: int


class Signal(msgspec.Struct, frozen=True, omit_defaults=True):
    """A signal nobody has taken yet."""

    value: Json


class EarlyAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """An answer to a gate that is not open yet."""

    node: str
    path: str
    answer: GateAnswer


class FiredBy(msgspec.Struct, frozen=True, omit_defaults=True):
    """What fired a run that nobody started by hand."""

    type: str
    depth: int = 0
    id: str | None = None
    node: str | None = None  # of a flow: the trigger that it begins at
    source: str | None = None  # the run, the address or the time it came from


class Head(msgspec.Struct, omit_defaults=True):
    """The run's own facts and counters: the one part that changes in place, and is copied before each message."""

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

    @property
    def root(self) -> RunId:
        return self.run if self.parent is None else self.parent.root

    @property
    def depth(self) -> int:
        return 0 if self.parent is None else self.parent.depth

    @property
    def ended(self) -> bool:
        return self.status in TERMINAL


class RunState:
    """Everything a run is, in tables. Only a `Draft` writes to them."""

    __slots__ = (
        "_flow",
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
        self.signals: dict[str, dict[int, Signal]] = {}  # by name, oldest first: those nobody has taken
        self.heard: dict[str, int] = {}  # keys of signals, and when each came: a second one changes nothing
        self.early: dict[int, EarlyAnswer] = {}  # oldest first
        self.lent: dict[RunId, int] = {}  # what runs below were given, used or not, and have not accounted for
        self._flow: FlowState | None = None
        self.waiters: dict[str, dict[TokenId, None]] = {}  # by signal, first come first; follows from the tokens

    def take_input(self, given: Json) -> None:
        """What the run was started with. Somebody may have looked at its nodes before there was any."""
        self.input = given
        if self._flow is not None:
            self._flow.input = given

    @property
    def has_flow(self) -> bool:
        """Whether any node of a flow was looked at: always false for a token graph."""
        return self._flow is not None

    @property
    def has_more(self) -> bool:
        """Whether there is anything in it besides input, state and output."""
        tables = self.tokens or self.groups or self.progress or self.slots or self.arrived
        return bool(tables or self.signals or self.heard or self.early or self.lent or self._flow is not None)

    @property
    def flow(self) -> FlowState:
        """How far the nodes of a flow are; for a token graph there is nothing in it."""
        if self._flow is None:
            self._flow = FlowState(self.input)
        return self._flow
