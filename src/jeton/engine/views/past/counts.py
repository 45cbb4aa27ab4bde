"""How many tokens of a run are where, and how far its fan-outs are, folded decision by decision.

A fold is as large as what is under way, with the counts of each node and the last fan-outs that are over."""

from typing import Literal, TypeAlias

import msgspec

from jeton.engine.views.past.needed import needed_in
from jeton.model import decision as d
from jeton.model.ids import GroupId, SlotId, TokenId
from jeton.model.state.ranges import numbers_in
from jeton.model.state.run import RunState
from jeton.planning.program.workflow import Program

Place: TypeAlias = Literal["active", "waiting", "done", "failed", "stopped", "skipped"]
NodeChanges: TypeAlias = dict[str, dict[Place, int]]
"""By node and place: how many more there are, or fewer."""

MOST_GROUPS_OVER = 200
"""So many fan-outs that are over are kept, the newest."""

ENDS: dict[str, Place] = {"completed": "done", "failed": "failed", "timed_out": "failed", "cancelled": "stopped"}
"""Where a token is once it has ended with its node. One that something else ended was stopped."""

_ACTIVE = (d.DispatchToken, d.RedeliverToken, d.WakeToken, d.MarkExecuting, d.UndoCall)
_WAITING = (
    d.SuspendToken,
    d.RetryToken,
    d.ParkToken,
    d.WaitForTimer,
    d.CallWorkflow,
    d.CallAgent,
    d.OpenGate,
    d.AskInput,
    d.WaitForSignal,
    d.HoldNode,
)


def place_after(decision: d.Decision) -> tuple[TokenId, Place] | None:
    """Where a decision puts a token that goes on; None if it moves none."""
    if isinstance(decision, _ACTIVE):
        return decision.token, "active"
    if isinstance(decision, _WAITING):
        return decision.token, "waiting"
    if isinstance(decision, d.ContinueTask):
        return decision.token, "waiting" if decision.paused else "active"
    return None


class NodeCounts(msgspec.Struct):
    """The tokens of one node: begun or about to, waiting, and ended by how. `skipped` is of a flow's nodes."""

    active: int = 0
    waiting: int = 0
    done: int = 0
    failed: int = 0
    stopped: int = 0
    skipped: int = 0


class GroupCounts(msgspec.Struct):
    """One fan-out. `began` and `ended` are numbers of entries; `failed` are slots in which a node failed."""

    id: GroupId
    name: str
    node: str
    total: int
    began: int
    settled: int = 0
    arrived: int = 0
    lost: int = 0
    needed: int | None = None
    ended: int | None = None
    failed: set[int] = msgspec.field(default_factory=set[int])


class Tally(msgspec.Struct):
    """The counts of a run after an entry."""

    tokens: dict[TokenId, tuple[str, Place]] = msgspec.field(default_factory=dict[TokenId, tuple[str, Place]])
    nodes: dict[str, NodeCounts] = msgspec.field(default_factory=dict[str, NodeCounts])
    groups: dict[GroupId, GroupCounts] = msgspec.field(default_factory=dict[GroupId, GroupCounts])
    over: list[GroupId] = []  # groups that are over, in the order in which they ended


class Counting:
    """Folds decisions into a tally. `changes` are those since they were taken last."""

    def __init__(self, program: Program, tally: Tally) -> None:
        self.tally = tally
        self._program = program
        self._changes: NodeChanges = {}

    def changes(self) -> NodeChanges:
        """The changes of counts since the last call."""
        changed, self._changes = self._changes, {}
        kept: NodeChanges = {}
        for node, places in changed.items():
            if any(places.values()):
                kept[node] = {place: by for place, by in places.items() if by}
        return kept

    def take(self, state: RunState, decision: d.Decision, entry: int) -> None:
        """Count a decision of an entry. The state is as it was before the decision."""
        moved = place_after(decision)
        if moved is not None:
            self._move(*moved)
        elif isinstance(decision, d.TokenDecision):
            self._token(state, decision)
        elif isinstance(decision, d.GroupDecision):
            self._group(state, decision, entry)
        elif isinstance(decision, d.SettleNodes):
            for node in decision.skipped:
                self._count(node, "skipped", 1)
        elif isinstance(decision, d.ReopenNodes):
            for node in (*decision.failed, *decision.skipped, *decision.begun):
                self._reopen(node)
        elif isinstance(decision, d.EndRun):
            for token in list(self.tally.tokens):
                self._end(token, "stopped")  # only of a run that broke an invariant are there any
            for group in [group for group, counts in self.tally.groups.items() if counts.ended is None]:
                self._end_group(state, group, entry)
        elif isinstance(decision, d.ForkHistory):
            for token in decision.dropped:
                self._end(token, "stopped")

    def look_again(self, state: RunState) -> None:
        """Take the places of tokens from the state: a fork may begin again what was under way."""
        for token in state.tokens.values():
            self._move(token.id, "active" if token.phase.busy else "waiting")

    def _token(self, state: RunState, decision: d.TokenDecision) -> None:
        match decision:
            case d.CreateToken():
                self._create(decision)
            case d.CreateTokens():
                for creation in decision.tokens:
                    self._create(creation)
            case d.RouteToken(token=token, node=node, ends=ends) if ends is not None:
                handled = state.has_flow and node in state.flow.executed  # its `on_error` made outputs of a failure
                self._end(token, "done" if handled else ENDS[ends])
            case d.EndTokens(tokens):
                for number in numbers_in(tokens):
                    self._end(TokenId(number), "stopped")
            case d.FailNode(token):
                self._fail(state, token)
            case _:
                pass

    def _group(self, state: RunState, decision: d.GroupDecision, entry: int) -> None:
        match decision:
            case d.OpenGroup(group, name, node, total=total):
                self.tally.groups[group] = GroupCounts(group, name, node, total, entry)
            case d.SettleSlot():
                self._settle(state, decision, entry)
            case d.OpenFanIn(group, tokens=tokens):
                for number in numbers_in(tokens):
                    self._end(TokenId(number), "done")
                self._end_group(state, group, entry)
            case d.CloseGroup(group):
                self._end_group(state, group, entry)
            case _:
                pass

    def _create(self, creation: d.CreateToken) -> None:
        self.tally.tokens[creation.token] = creation.node, "active"
        self._count(creation.node, "active", 1)

    def _move(self, token: TokenId, place: Place) -> None:
        node, before = self.tally.tokens[token]
        if before != place:
            self.tally.tokens[token] = node, place
            self._count(node, before, -1)
            self._count(node, place, 1)

    def _end(self, token: TokenId, place: Place) -> None:
        node, before = self.tally.tokens.pop(token)
        self._count(node, before, -1)
        self._count(node, place, 1)

    def _reopen(self, node: str) -> None:
        """A node of a flow is as it was before it began."""
        counts = self.tally.nodes.get(node, NodeCounts())
        self._count(node, "done", -counts.done)
        self._count(node, "failed", -counts.failed)
        self._count(node, "stopped", -counts.stopped)
        self._count(node, "skipped", -counts.skipped)

    def _count(self, node: str, place: Place, by: int) -> None:
        counts = self.tally.nodes.get(node)
        if counts is None:
            counts = self.tally.nodes[node] = NodeCounts()
        setattr(counts, place, getattr(counts, place) + by)
        places = self._changes.setdefault(node, {})
        places[place] = places.get(place, 0) + by

    # fan-outs

    def _fail(self, state: RunState, token: TokenId) -> None:
        """Mark the slots that a failed token is in."""
        slot: SlotId | None = state.tokens[token].slot if token in state.tokens else None
        while slot is not None:
            counts = self.tally.groups.get(slot[0])
            if counts is not None:
                counts.failed.add(slot[1])
            slot = state.groups[slot[0]].outer

    def _settle(self, state: RunState, decision: d.SettleSlot, entry: int) -> None:
        for inner in state.slots[decision.slot].groups:
            self._end_group(state, inner, entry)
        counts = self.tally.groups.get(decision.slot[0])
        if counts is None or counts.ended is not None:
            return  # what is stopped after a fan-in has opened is not missing there
        counts.settled += 1
        if decision.node is not None:
            counts.arrived += 1
        elif decision.escaped is None and decision.slot[1] in counts.failed:
            counts.lost += 1

    def _end_group(self, state: RunState, group: GroupId, entry: int) -> None:
        """A fan-out is over, and with it those inside its slots."""
        counts = self.tally.groups.get(group)
        if counts is None or counts.ended is not None or group not in state.groups:
            return
        counts.needed, counts.ended = needed_in(self._program, state, group), entry
        counts.failed = set()
        progress = state.progress[group]
        if progress.live:
            for segment, started in zip(state.groups[group].segments, progress.started, strict=True):
                for index in range(segment.first, segment.first + started):
                    slot = state.slots.get((group, index))
                    for inner in () if slot is None else slot.groups:
                        self._end_group(state, inner, entry)
        self.tally.over.append(group)
        if len(self.tally.over) > MOST_GROUPS_OVER:
            del self.tally.groups[self.tally.over.pop(0)]
