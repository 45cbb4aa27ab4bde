"""Decisions about fan-outs, branches and fan-ins: what they change, and the facts they make true."""

from collections.abc import Iterator

import msgspec
from msgspec import UnsetType

from jeton.apply.draft import Draft
from jeton.apply.rule import no_facts, rule
from jeton.model import decision as d
from jeton.model import event as ev
from jeton.model.cue import GroupChanged, SlotQuiet
from jeton.model.failure import BrokenInvariant
from jeton.model.ids import GroupId, TokenId
from jeton.model.json import Json
from jeton.model.state.ranges import count_in, joined, numbers_in
from jeton.model.state.run import SLOTS_PER_STRETCH, Arrived, FanIn, Group, Progress, Slot

Reached = tuple[GroupId, str, int]
"""The fan-in that a slot reached: its group, its node, and the transition that led there."""


def _open_group(draft: Draft, decision: d.OpenGroup) -> None:
    """Open a group with a fixed number of slots. Its tokens are created by decisions of their own."""
    head = draft.state.head
    if decision.group != head.next_group:
        raise BrokenInvariant("a group is out of order", group=decision.group, next=head.next_group)
    head.next_group += 1
    group = Group(
        decision.group,
        decision.name,
        decision.node,
        decision.origin,
        decision.path,
        decision.total,
        decision.segments,
        decision.outer,
        decision.loops,
        decision.error,
    )
    nothing = (0,) * len(group.segments)
    draft.put(draft.state.groups, group.id, group)
    draft.touched.rest.groups.add(group.id)
    draft.put_progress(group.id, Progress(group.total, nothing, nothing))
    if group.outer is not None:
        outer = draft.slot(group.outer)
        draft.put(draft.state.slots, group.outer, msgspec.structs.replace(outer, groups=(*outer.groups, group.id)))
    draft.urgent.append(GroupChanged(group.id))  # an empty group is complete at once, and a quorum may be out of reach


def _park_token(draft: Draft, decision: d.ParkToken) -> None:
    """Move a token that waits for its siblings into its slot."""
    token = draft.token(decision.token)
    if token.slot is None:
        raise BrokenInvariant("the token is in no branch", token=token.id)
    slot = draft.slot(token.slot)
    reached = _innermost(slot.reached, (decision.group, decision.node, decision.transition))
    draft.put_slot(token.slot, msgspec.structs.replace(slot, reached=reached, waiting=(*slot.waiting, token.id)))
    draft.drop_token(token)


def _innermost(before: Reached | None, now: Reached | None) -> Reached | None:
    """The fan-in where a slot arrives whose tokens reached several: that of the innermost group, then the first.

    A group is created after those around it, so the innermost has the highest number.
    """
    if before is None or now is None:
        return before or now
    return now if now[0] > before[0] else before


def _settle_slot(draft: Draft, decision: d.SettleSlot) -> None:
    """Settle a live slot as arrived, escaped or lost. Its record is removed, so it settles once."""
    slot_id, (group_id, index) = decision.slot, decision.slot
    group, progress = draft.group(group_id)
    slot = draft.slot(slot_id)
    for inner in slot.groups:
        draft.drop_group(inner)
    draft.drop(draft.state.slots, slot_id)
    draft.touch_slot(slot_id)
    fan_ins = progress.fan_ins
    if decision.node is not None:
        _keep_arrived(draft, decision.node, index, slot, decision)
        fan_ins = {**fan_ins, decision.node: _with_arrival(draft, group_id, fan_ins, decision)}
    elif decision.escaped is not None and group.outer is not None:
        _keep_escaped_output(draft, group, index, slot, decision)
    segment = group.segment_of(index)
    flying = (*progress.flying[:segment], progress.flying[segment] - 1, *progress.flying[segment + 1 :])
    needed = progress.needed
    if decision.needed is not None and decision.node is not None:
        needed = {**needed, decision.node: decision.needed}
    draft.put_progress(
        group_id, Progress(progress.live - 1, progress.started, flying, fan_ins, progress.opened, needed)
    )
    draft.urgent.append(GroupChanged(group_id))


def _keep_arrived(draft: Draft, node: str, index: int, slot: Slot, decision: d.SettleSlot) -> None:
    arrived_id = (decision.slot[0], node, index // SLOTS_PER_STRETCH)
    before = draft.state.arrived.get(arrived_id, _NOBODY)
    brings: dict[int, Json] = {} if isinstance(decision.value, UnsetType) else {index: decision.value}
    draft.put_arrived(
        arrived_id,
        Arrived(joined(before.slots, (index,)), joined(before.tokens, slot.waiting), {**before.values, **brings}),
    )


_NOBODY = Arrived()


def _with_arrival(draft: Draft, group: GroupId, fan_ins: dict[str, FanIn], decision: d.SettleSlot) -> FanIn:
    if decision.node is None or decision.transition is None:
        raise BrokenInvariant("an arrival without node or transition", slot=list(decision.slot))
    before = fan_ins.get(decision.node)
    if before is not None:
        return FanIn(before.transition, before.arrived + 1, before.since, before.deadline)
    if decision.deadline is not None:
        draft.timers.watch_fan_in(decision.deadline, decision.at, group, decision.node)
    return FanIn(decision.transition, 1, decision.at, decision.deadline)


def _keep_escaped_output(draft: Draft, group: Group, index: int, slot: Slot, decision: d.SettleSlot) -> None:
    """Keep the output of an inner slot that left its group in the outer slot, to be merged in order."""
    if group.outer is None or decision.escaped is None:
        raise BrokenInvariant("the slot has no enclosing slot", slot=list(decision.slot))
    outer = draft.slot(group.outer)
    draft.put_slot(
        group.outer,
        msgspec.structs.replace(
            outer,
            reached=_innermost(outer.reached, slot.reached),
            waiting=(*outer.waiting, *slot.waiting),
            laid=(*outer.laid, (group.id, index, decision.escaped)),
        ),
    )


def _open_fan_in(draft: Draft, decision: d.OpenFanIn) -> None:
    """Take the arrived slots and remove the live ones, whose tokens have ended or are abandoned."""
    group, progress = draft.group(decision.group)
    if progress.fan_ins.get(decision.node) is None and decision.slots:
        raise BrokenInvariant("the fan-in opened already, or nobody arrived", group=decision.group, node=decision.node)
    if progress.live:
        draft.drop_slots(group, progress)
    draft.drop_arrived(group, decision.node)
    draft.state.head.alive -= count_in(decision.tokens)
    left = {node: fan_in for node, fan_in in progress.fan_ins.items() if node != decision.node}
    needed = {node: count for node, count in progress.needed.items() if node in left}
    draft.put_progress(group.id, Progress(0, progress.started, (0,) * len(progress.flying), left, True, needed))
    draft.urgent.append(GroupChanged(group.id))


def _close_group(draft: Draft, decision: d.CloseGroup) -> None:
    """Remove the group. The slot around it may then have nothing under way."""
    group, _ = draft.group(decision.group)
    draft.drop_group(group.id)
    if group.outer is None or group.outer not in draft.state.slots:
        return
    outer = draft.slot(group.outer)
    left = msgspec.structs.replace(outer, groups=tuple(g for g in outer.groups if g != group.id))
    draft.put(draft.state.slots, group.outer, left)
    if left.quiet:
        draft.urgent.append(SlotQuiet(group.outer))


def _time_out_fan_in(draft: Draft, decision: d.TimeOutFanIn) -> None:
    """Remove the deadline of a fan-in. What the timeout means is in decisions of its own."""
    _, progress = draft.group(decision.group)
    fan_in = progress.fan_ins.get(decision.node)
    if fan_in is None:
        raise BrokenInvariant("nobody waits at the fan-in", group=decision.group, node=decision.node)
    stopped = FanIn(fan_in.transition, fan_in.arrived, fan_in.since)
    draft.put_progress(
        decision.group, msgspec.structs.replace(progress, fan_ins={**progress.fan_ins, decision.node: stopped})
    )


def _merge_branches(draft: Draft, decision: d.MergeBranches) -> None:
    draft.write(decision.outer, decision.target, decision.value)


def _opened(decision: d.OpenFanIn) -> Iterator[ev.Fact]:
    yield ev.FanInOpened(decision.group, decision.node, count_in(decision.slots))
    for number in numbers_in(decision.tokens):
        yield ev.TokenCompleted(TokenId(number))


RULES = (
    rule(d.OpenGroup, _open_group, lambda x: (ev.FanOutStarted(x.group, x.name, x.node, x.total),)),
    rule(d.ParkToken, _park_token, lambda x: (ev.TokenWaiting(x.token, "siblings", x.node),)),
    rule(d.SettleSlot, _settle_slot, no_facts, 0),
    rule(d.OpenFanIn, _open_fan_in, _opened, lambda x: 1 + count_in(x.tokens)),
    rule(d.MergeBranches, _merge_branches, lambda x: (ev.BranchesMerged(x.group, x.node, x.target),)),
    rule(d.TimeOutFanIn, _time_out_fan_in, lambda x: (ev.SyncTimedOut(x.group, x.node),)),
    rule(d.CloseGroup, _close_group, no_facts, 0),
)
