"""A run's tables while one message is handled. A message is folded whole or not at all.

Each write records the previous value, to undo it, and the section it belongs to, to store it.
"""

from collections import deque
from collections.abc import Hashable
from typing import Any, TypeVar

import msgspec

from jeton.apply.timers import Timers
from jeton.model.chat import Speaker
from jeton.model.cue import Cue, SlotQuiet, TokenReady
from jeton.model.effect import Effect, SendMessage, StopTask
from jeton.model.failure import BrokenInvariant
from jeton.model.ids import GroupId, RunId, SlotId, TokenId
from jeton.model.json import Json
from jeton.model.message import CancelRun, StopTurn
from jeton.model.paths import branch_keys, written
from jeton.model.state.phase import (
    Dispatched,
    Executing,
    Pending,
    WaitingForAgent,
    WaitingForGate,
    WaitingForSignal,
    WaitingForSubworkflow,
)
from jeton.model.state.run import SLOTS_PER_STRETCH, Arrived, ArrivedId, Group, Progress, RunState, Slot, Token
from jeton.model.state.talk import Turn, place_of, speaker_of

TOKENS_PER_SECTION = 32

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")
_ABSENT: Any = object()


class Touched:
    """The sections that differ from what is stored. Most commits touch a few tokens and keys and nothing else."""

    __slots__ = ("_rest", "input", "more", "output", "overrides", "state", "tokens", "usage")

    def __init__(self) -> None:
        self.input = False
        self.usage = False  # credits were taken, or a model was called
        self.overrides = False
        self.state: set[str] = set()
        self.output: set[str] = set()
        self.tokens: set[int] = set()
        self.more = False  # anything in `rest` may have been touched
        self._rest: TouchedRest | None = None

    @property
    def rest(self) -> "TouchedRest":
        if self._rest is None:
            self._rest, self.more = TouchedRest(), True
        return self._rest

    def everything(self, state: RunState) -> None:
        """Mark every section, as for a run that was never stored."""
        self.input = True
        self.overrides = state.has_flow and bool(state.flow.overrides)
        self.state.update(state.state)
        self.output.update(state.output)
        if state.tokens:
            self.tokens.update(token // TOKENS_PER_SECTION for token in state.tokens)
        if state.has_more:
            self.rest.everything(state)


class TouchedRest:
    """The sections that fan-outs, waits, flows and credits touch."""

    __slots__ = (
        "arrived",
        "early",
        "gates",
        "groups",
        "heard",
        "lent",
        "nodes",
        "progress",
        "signals",
        "slots",
        "talk",
    )

    def __init__(self) -> None:
        self.nodes: set[str] = set()  # of a flow
        self.groups: set[GroupId] = set()
        self.progress: set[GroupId] = set()
        self.slots: set[tuple[GroupId, int]] = set()
        self.arrived: set[ArrivedId] = set()
        self.signals: set[tuple[str, int]] = set()
        self.heard: set[str] = set()
        self.early: set[int] = set()
        self.lent: set[RunId] = set()
        self.gates: set[TokenId] = set()  # gates that opened or closed, for lists of gates
        self.talk: set[tuple[str | int, ...]] = set()  # rows of a conversation's tables

    def everything(self, state: RunState) -> None:
        flow = state.flow
        for table in (flow.executed, flow.executing, flow.waiting, flow.errors, flow.skipped, flow.remaining):
            self.nodes.update(table)
        self.groups.update(state.groups)
        self.progress.update(state.progress)
        self.slots.update((id, stretch) for id, group in state.groups.items() for stretch in group.stretches())
        self.arrived.update(state.arrived)
        self.signals.update((name, number) for name, kept in state.signals.items() for number in kept)
        self.heard.update(state.heard)
        self.early.update(state.early)
        self.lent.update(state.lent)
        self.gates.update(t.id for t in state.tokens.values() if isinstance(t.phase, WaitingForGate))
        if state.has_talk:
            self.talk.update(state.talk.rows())


class Draft:
    """The only writer of a run's tables."""

    __slots__ = ("_head", "_undo", "effects", "finished", "now", "ready", "state", "timers", "touched", "urgent")

    def __init__(self, state: RunState, timers: Timers) -> None:
        self.state = state
        self.timers = timers
        self.touched = Touched()
        self.now = 0  # the time of the message, for messages to other runs
        self.effects: list[Effect] = []
        self.finished: TokenId | None = None  # the token whose node succeeded last; routing may still fail the node
        self.urgent: deque[Cue] = deque()
        self.ready: deque[TokenReady] = deque()
        self._undo: list[tuple[dict[Any, Any], Any, Any]] = []
        self._head = state.head

    def begin(self, now: int) -> int:
        """Set the point that `roll_back` returns to. Returns the number of effects so far."""
        self.now = now
        self._undo.clear()
        self._head = msgspec.structs.replace(self.state.head)
        return len(self.effects)

    def roll_back(self, effects: int) -> None:
        """Undo everything since `begin`."""
        for table, key, before in reversed(self._undo):
            if before is _ABSENT:
                table.pop(key, None)
            else:
                table[key] = before
        self._undo.clear()
        self.state.head = self._head
        self.state.renew_facts()
        del self.effects[effects:]
        self.urgent.clear()
        self.ready.clear()

    def put(self, table: dict[_Key, _Value], key: _Key, value: _Value) -> None:
        """Write one value. Values in tables are never changed in place."""
        self._undo.append((table, key, table.get(key, _ABSENT)))
        table[key] = value

    def drop(self, table: dict[_Key, _Value], key: _Key) -> _Value:
        """Remove one value and return it."""
        if key not in table:
            raise BrokenInvariant("an item to remove does not exist", key=str(key))
        before = table.pop(key)
        self._undo.append((table, key, before))
        return before

    # tokens

    def token(self, token: TokenId) -> Token:
        found = self.state.tokens.get(token)
        if found is None:
            raise BrokenInvariant("the token does not exist or has ended", token=token)
        return found

    def put_token(self, token: Token) -> None:
        """Add or replace a token, and update the counters and its slot."""
        before = self.state.tokens.get(token.id)
        if before is not None:
            self._leave_phase(before)
        elif token.slot is not None:
            slot = self.state.slots[token.slot]
            self.put(self.state.slots, token.slot, msgspec.structs.replace(slot, tokens=(*slot.tokens, token.id)))
        self._enter_phase(token)
        self.put(self.state.tokens, token.id, token)
        self.touched.tokens.add(token.id // TOKENS_PER_SECTION)
        if before is None and type(token.phase) is Pending:
            self.ready.append(TokenReady(token.id))

    def drop_token(self, token: Token) -> None:
        """Remove a token. Its slot may then have nothing under way."""
        self.drop(self.state.tokens, token.id)
        self._leave_phase(token)
        self.touched.tokens.add(token.id // TOKENS_PER_SECTION)
        if token.slot is not None:
            slot = self.state.slots[token.slot]
            left = msgspec.structs.replace(slot, tokens=tuple(t for t in slot.tokens if t != token.id))
            self.put(self.state.slots, token.slot, left)
            if left.quiet:
                self.urgent.append(SlotQuiet(token.slot))

    def stop_task(self, token: Token) -> None:
        """Stop the token's task if a worker has it."""
        if isinstance(token.phase, Dispatched | Executing):
            self.effects.append(StopTask(token.id, token.attempt))

    def stop_child(self, child: RunId, reason: str) -> None:
        """Cancel a child run, which cancels its own children."""
        self.effects.append(SendMessage(child, CancelRun(self.now, reason, by_parent=True)))

    def stop_agent(self, token: TokenId, conversation: RunId, reason: str) -> None:
        """Stop the turn that a token asked for."""
        stop = StopTurn(self.now, run=self.state.head.run, token=token, reason=reason)
        self.effects.append(SendMessage(conversation, stop))

    def turn_of(self, token: Token) -> Turn | None:
        """The turn that a token belongs to, if this is a conversation."""
        return self.state.talk.turns.get(place_of(token.path)[0]) if self.state.has_talk else None

    def speaker(self, token: Token) -> Speaker | None:
        """The agent that a token works for."""
        head = self.state.head
        if self.state.has_talk and (turn := self.turn_of(token)) is not None:
            return speaker_of(head.run, turn)
        return None if head.parent is None else head.parent.speaker

    def _update_lists(self, token: Token, *, listed: bool) -> None:
        """Update the lists of waiters of signals, and mark a gate as changed."""
        match token.phase:
            case WaitingForSignal(hears=hears):
                if token.abandoned:
                    return
                for name in hears:
                    waiters = self.state.waiters.setdefault(name, {})
                    if listed:
                        self.put(waiters, token.id, None)
                    else:
                        self.drop(waiters, token.id)
            case WaitingForGate():
                self.touched.rest.gates.add(token.id)
            case _:
                pass

    def _enter_phase(self, token: Token) -> None:
        if token.phase.busy:
            if not token.abandoned:
                self.state.head.busy += 1
            return
        if not token.abandoned:
            self.state.head.parked += 1
        self._update_lists(token, listed=True)

    def _leave_phase(self, token: Token) -> None:
        if token.phase.busy:
            if not token.abandoned:
                self.state.head.busy -= 1
            return
        if not token.abandoned:
            self.state.head.parked -= 1
        self._update_lists(token, listed=False)

    # slots and groups

    def slot(self, slot: SlotId) -> Slot:
        found = self.state.slots.get(slot)
        if found is None:
            raise BrokenInvariant("the slot is not live", slot=list(slot))
        return found

    def put_slot(self, slot: SlotId, value: Slot) -> None:
        self.put(self.state.slots, slot, value)
        self.touch_slot(slot)

    def touch_slot(self, slot: SlotId) -> None:
        self.touched.rest.slots.add((slot[0], slot[1] // SLOTS_PER_STRETCH))

    def group(self, group: GroupId) -> tuple[Group, Progress]:
        found = self.state.groups.get(group)
        if found is None:
            raise BrokenInvariant("the group is not open", group=group)
        return found, self.state.progress[group]

    def put_progress(self, group: GroupId, progress: Progress) -> None:
        self.put(self.state.progress, group, progress)
        self.touched.rest.progress.add(group)

    def drop_slots(self, group: Group, progress: Progress) -> None:
        """Remove the group's live slots and everything inside them. Their tokens have ended already."""
        for segment, started in zip(group.segments, progress.started, strict=True):
            for index in range(segment.first, segment.first + started):
                slot_id = (group.id, index)
                if slot_id in self.state.slots:
                    slot = self.drop(self.state.slots, slot_id)
                    self.touch_slot(slot_id)
                    for inner in slot.groups:
                        self.drop_group(inner)

    def drop_group(self, group_id: GroupId) -> None:
        """Remove a group with everything in it."""
        group, progress = self.group(group_id)
        if progress.live:
            self.drop_slots(group, progress)
        for node in progress.fan_ins:
            self.drop_arrived(group, node)
        self.drop(self.state.groups, group_id)
        self.drop(self.state.progress, group_id)
        self.touched.rest.groups.add(group_id)
        self.touched.rest.progress.add(group_id)

    def put_arrived(self, arrived_id: ArrivedId, value: Arrived) -> None:
        self.put(self.state.arrived, arrived_id, value)
        self.touched.rest.arrived.add(arrived_id)

    def drop_arrived(self, group: Group, node: str) -> None:
        """Remove the slots that wait at a fan-in: it opened, or never will."""
        for stretch in group.stretches():
            if (group.id, node, stretch) in self.state.arrived:
                self.drop(self.state.arrived, (group.id, node, stretch))
                self.touched.rest.arrived.add((group.id, node, stretch))

    def drop_everything(self) -> None:
        """Remove everything under way without any check, for a state that contradicts itself."""
        state = self.state
        for token in list(state.tokens.values()):
            self.stop_task(token)
            if isinstance(token.phase, WaitingForSubworkflow):
                self.stop_child(token.phase.child, "its parent came to a contradiction")
            if isinstance(token.phase, WaitingForAgent):
                self.stop_agent(token.id, token.phase.conversation, "its caller came to a contradiction")
            self._update_lists(token, listed=False)
        self.touched.tokens.update(token // TOKENS_PER_SECTION for token in state.tokens)
        for slot in state.slots:
            self.touch_slot(slot)
        self.touched.rest.arrived.update(state.arrived)
        self.touched.rest.groups.update(state.groups)
        self.touched.rest.progress.update(state.progress)
        for table in (state.tokens, state.slots, state.arrived, state.groups, state.progress):
            self._drop_all(table)
        state.head.alive = state.head.busy = state.head.parked = 0

    def _drop_all(self, table: dict[Any, Any]) -> None:
        for key in list(table):
            self.drop(table, key)

    # context

    def write(self, slot: SlotId | None, path: str, value: Json) -> None:
        """Write one mapped value into the slot's output, or into the run's context if there is no slot."""
        if slot is not None:
            before = self.slot(slot)
            output = written(before.output, branch_keys(path), value)
            self.put_slot(slot, msgspec.structs.replace(before, output=output))
            return
        section, key, *below = path.split(".")
        table = self.state.state if section == "state" else self.state.output
        known = key in table
        self.put(table, key, written({key: table.get(key)}, [key, *below], value)[key] if below else value)
        if not known:
            _keep_in_order(table)
        (self.touched.state if section == "state" else self.touched.output).add(key)


def _keep_in_order(table: dict[str, Json]) -> None:
    """Sort by name, as in a run that is loaded: an expression may iterate over the whole context."""
    ordered = sorted(table.items())
    table.clear()
    table.update(ordered)
