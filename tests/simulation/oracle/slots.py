"""Slots and fan-ins: who is live, arrived or lost, when a fan-in opens or fails, and what that does to the others."""

from __future__ import annotations

from copy import deepcopy

from tests.simulation.oracle.graph import joined_group, synchronization, transitions
from tests.simulation.oracle.merge import MergeFailed, merge
from tests.simulation.oracle.model import (
    FanIn,
    Group,
    NodeFailed,
    Object,
    Run,
    RunFailed,
    Slot,
    Token,
    abandoned,
    chain,
    make_token,
    slots_inside,
    tokens_inside,
)
from tests.simulation.oracle.scope import branch_view, count_in, write

# ---- what can be seen by looking ------------------------------------------------------------------------------------


def under_way(token: Token, slot: Slot) -> bool:
    """Whether a token inside the slot still keeps it live."""
    if token.ended:
        return False
    # token-graphs.md#abandoned-slots: an abandoned slot neither routes on nor holds the run open.
    if abandoned(token.slot):
        return False
    # A token that waits at a fan-in inside the slot will go on; one that waits at the slot's own fan-in has arrived,
    # and one that waits further out has left ("A slot that leaves its inner group outwards is lost to the inner join").
    return token.fan_in is None or token.fan_in.group not in [around.group for around in chain(slot)]


def is_live(run: Run, slot: Slot) -> bool:
    # token-graphs.md#fan-in: A slot is **live** while any token in it, or in slots inside it, is under way.
    if any(under_way(token, slot) for token in tokens_inside(run, slot)):
        return True
    # token-graphs.md#fan-out: the rest are not materialised as tokens until their turn: they are still to come.
    return any(inner.state == "unstarted" and not abandoned(inner) for inner in slots_inside(run, slot))


def may_arrive(slot: Slot) -> bool:
    return slot.state in ("unstarted", "live")


def arrived_slots(fan_in: FanIn) -> list[Slot]:
    return [slot for slot in fan_in.group.slots if slot.state == "arrived" and slot.arrived_at is fan_in]


def depth(group: Group) -> int:
    return len(chain(group.outer))


# ---- one consequence at a time --------------------------------------------------------------------------------------


def one_consequence(run: Run) -> bool:
    """Carry out the first consequence there is: innermost groups first, then older ones. False: there is none."""
    for group in sorted(run.groups, key=lambda one: (-depth(one), one.id)):
        # What lies in a slot that is lost, cancelled, abandoned or arrived has no say any more.
        if any(around.state != "live" for around in chain(group.outer)):
            continue
        if judge(run, group) or settle_a_slot(run, group) or start_waiting_slots(run, group):
            return True
    return False


def settle_a_slot(run: Run, group: Group) -> bool:
    for slot in group.slots:
        if slot.state != "live" or is_live(run, slot):
            continue
        arriving = [token for token in tokens_inside(run, slot) if not token.ended and not abandoned(token.slot)]
        reached = [token.fan_in for token in arriving if token.fan_in is not None and token.fan_in.group is group]
        if not reached:
            # token-graphs.md#fan-in: it is **lost** when none is and none did (failed, cancelled, ended elsewhere).
            slot.state = "lost"
            return True
        # token-graphs.md#fan-in: It has **arrived** when none is and at least one reached the fan-in; a slot that
        # arrived at one fan-in is lost to the group's others.
        fan_in = reached[0]
        slot.state, slot.arrived_at = "arrived", fan_in
        if fan_in.first_arrival is None:
            fan_in.first_arrival = run.next_timer()
            fan_in.needed = counted(run, fan_in, fan_in.sync.needed) if fan_in.sync.strategy == "m_of_n" else None
            if fan_in.sync.timeout_ms is not None:
                # token-graphs.md#fan-in-timeouts: The fan-in clock starts when the first slot has arrived, not when the
                # first of its tokens has.
                timeout_ms = counted(run, fan_in, fan_in.sync.timeout_ms)
                fan_in.due = None if timeout_ms is None else run.now + timeout_ms
        return True
    return False


def judge(run: Run, group: Group) -> bool:
    """Open or fail one fan-in of the group, if one is ready for it."""
    reached = [fan_in for fan_in in group.fan_ins if fan_in.closed is None and arrived_slots(fan_in)]
    if reached:
        # token-graphs.md#numbers-from-data: without its number a fan-in fails, before any other opens
        reached.sort(key=lambda one: (one.fault is None, one.first_arrival or 0))
        return any(judge_fan_in(run, fan_in) for fan_in in reached)
    # token-graphs.md#fan-in: Two joins on one group: the one no slot reaches never opens.
    if any(fan_in.closed is not None for fan_in in group.fan_ins):
        return False
    # No slot arrived anywhere so far: only the join the definition leads to can be meant. With two joins, nobody knows
    # which of them until no slot is live.
    if len(group.fan_ins) == 1 or not any(may_arrive(slot) for slot in group.slots):
        return any(judge_fan_in(run, fan_in) for fan_in in group.fan_ins[:1])
    return False


def judge_fan_in(run: Run, fan_in: FanIn) -> bool:
    slots, sync = fan_in.group.slots, fan_in.sync
    arrived = len(arrived_slots(fan_in))
    possible = len([slot for slot in slots if may_arrive(slot)])
    if not slots:
        # token-graphs.md#fan-out: the group is complete at once; its join, the one the definition leads to, opens with
        # an empty merge, whatever its strategy.
        return open_fan_in(run, fan_in, sync.on_early_complete)
    if sync.strategy == "m_of_n" and fan_in.needed is None and fan_in.fault is None:
        # token-graphs.md#numbers-from-data: once, with the first arrival, or with the last loss.
        if isinstance(sync.needed, str) and possible:
            return False
        fan_in.needed = counted(run, fan_in, sync.needed)
    if fan_in.fault is not None:
        return fail_fan_in(run, fan_in, *fan_in.fault)
    match sync.strategy:
        case "all":  # "no slot is live (all of them lost: with an empty merge)" · "never by itself"
            return possible == 0 and open_fan_in(run, fan_in, sync.on_early_complete)
        case "any":  # "first slot to arrive" · "every slot is lost"
            if arrived:
                return open_fan_in(run, fan_in, sync.on_early_complete)
            return possible == 0 and fail_fan_in(run, fan_in, "fan_in_lost", "every branch is lost")
        case "m_of_n":  # "M slots have arrived" · "fewer than M can still arrive: at once, `quorum_impossible`"
            needed = fan_in.needed or 0
            if arrived >= needed:
                return open_fan_in(run, fan_in, sync.on_early_complete)
            message = f"{needed} needed, {arrived} arrived, {possible} can still arrive"
            return arrived + possible < needed and fail_fan_in(run, fan_in, "quorum_impossible", message)
        case other:
            raise ValueError(f"no strategy {other!r}")


def counted(run: Run, fan_in: FanIn, written: int | str) -> int | None:
    """token-graphs.md#numbers-from-data: `input`, `state`, `output`, `run`, and the `_branch` around the group."""
    scope: Object = {"input": run.input, "state": run.state, "output": run.out, "run": run.facts}
    if fan_in.group.outer is not None:
        scope["_branch"] = branch_view(fan_in.group.outer)
    try:
        return count_in(run, "fan-in", written, scope)
    except NodeFailed as failed:
        fan_in.fault = fan_in.fault or (failed.failure["type"], failed.failure["message"])
        return None


def start_waiting_slots(run: Run, group: Group) -> bool:
    before = len(run.tokens)
    for place in sorted({slot.transition for slot in group.slots}):
        start_slots(run, group, place)
    return len(run.tokens) > before


def start_slots(run: Run, group: Group, place: int) -> None:
    """Make the tokens of a transition's slots that may be in flight now."""
    transition = run.workflow["transitions"][place]
    # token-graphs.md#fan-out: `max_parallel` on a `foreach` bounds how many slots are in flight.
    bound = group.bounds.get(place)
    for slot in [one for one in group.slots if one.transition == place and one.state == "unstarted"]:
        in_flight = [one for one in group.slots if one.transition == place and one.state == "live"]
        if bound is not None and len(in_flight) >= bound:
            return
        slot.state = "live"
        origin = group.fan_out
        path = f"{origin.path}.{transition['to']}.{slot.index}"
        travel(run, origin, place, slot, path)


# ---- a token on its way over a transition ---------------------------------------------------------------------------


def travel(run: Run, origin: Token, place: int, slot: Slot | None, path: str) -> None:
    """Make the token a transition leads to, and park it if that is a fan-in of a group it is in."""
    target = transitions(run.workflow)[place]["to"]
    # token-graphs.md#loops: iterations are counted for this token's lineage; token-graphs.md#failures: children inherit
    # it.
    loops = {**origin.loops, place: origin.loops.get(place, 0) + 1}
    token = make_token(
        run, node=target, path=path, parent=origin, slot=slot, loops=loops, last_error=deepcopy(origin.last_error)
    )
    sync = synchronization(run.workflow, place)
    if sync is None:
        return
    around = [one.group for one in reversed(chain(token.slot))]
    at = joined_group(sync, [group.name for group in around])
    if at is None:
        return  # token-graphs.md#fan-in: A token that is not in the named group passes straight through.
    fan_in = next((one for one in around[at].fan_ins if one.target == target), None)
    if fan_in is None:
        fan_in = FanIn(group=around[at], target=target, sync=sync)
        around[at].fan_ins.append(fan_in)
    if fan_in.closed is not None:
        token.status = "completed"  # token-graphs.md#fan-in: Anything that arrives late … is ignored and recorded.
        return
    token.status, token.fan_in = "waiting_for_siblings", fan_in


# ---- opening, failing, losing ---------------------------------------------------------------------------------------


def open_fan_in(run: Run, fan_in: FanIn, early: str) -> bool:
    """Merge, end the siblings, and send the continuation on. early: what becomes of the slots still live."""
    group = fan_in.group
    arrived = arrived_slots(fan_in)
    if fan_in.sync.merge is not None:
        try:
            # token-graphs.md#fan-in: branch outputs of arrived slots are merged in index order into the enclosing scope
            # (the outer slot's `_branch.output`, else the context); token-graphs.md#merge: A merge replaces what was at
            # the target.
            value = merge(fan_in.sync.merge, [(slot.index, output_at(run, slot, fan_in)) for slot in arrived])
        except MergeFailed as failed:
            return fail_fan_in(run, fan_in, "merge_failed", str(failed))
        write(run, group.outer, fan_in.sync.merge["target"], value)
    fan_in.closed = "opened"  # "It opens **exactly once**."
    for slot in arrived:
        slot.state = "joined"
        for token in tokens_inside(run, slot):
            if not token.ended and not abandoned(token.slot):
                token.status = "completed"
    for slot in group.slots:
        if may_arrive(slot):
            stop_slot(run, slot, early)
    # "one continuation token goes to the target node"; "The continuation's loop counts are those of the token that
    # fanned out"; "After a failure": "joins drop it" (`_last_error`).
    origin = group.fan_out
    make_token(
        run, node=fan_in.target, path=origin.path, parent=origin, slot=group.outer, loops=origin.loops, last_error=None
    )
    return True


def stop_slot(run: Run, slot: Slot, how: str) -> None:
    # token-graphs.md#abandoned-slots: Slots still live are cancelled … or, with `abandon`, left to finish with their
    # results ignored.
    if how == "abandon" and slot.state == "live":
        slot.state = "abandoned"
        return
    end_slot(run, slot, "timed_out" if how == "timed_out" else "cancelled")


def end_slot(run: Run, slot: Slot, status: str) -> None:
    """End everything in a slot, and what was still to come in it."""
    slot.state = status
    for token in tokens_inside(run, slot):
        if not token.ended:
            token.status = status
    for inner in slots_inside(run, slot):
        if may_arrive(inner):
            inner.state = status


def output_at(run: Run, slot: Slot, fan_in: FanIn) -> Object:
    """What a slot brings to a fan-in: its output, with those of inner slots nobody joined laid over it."""
    # token-graphs.md#nested-slots: Tokens of inner slots that nobody joined arrive for the outer slot they are in, and
    # their outputs are laid over its output in index order, in the order in which
    # their groups were made.
    whole = deepcopy(slot.output)
    for group in run.groups:
        if group.outer is not slot:
            continue
        for inner in group.slots:
            if abandoned(inner):
                continue
            if any(token.fan_in is fan_in and not token.ended for token in tokens_inside(run, inner)):
                whole.update(output_at(run, inner, fan_in))
    return whole


def fail_fan_in(run: Run, fan_in: FanIn, type_: str, message: str) -> bool:
    # token-graphs.md#fan-in-failures: A fan-in that fails … counts as an unhandled failure at its place: it loses the
    # innermost enclosing branch whose join says `continue`, else the run fails.
    fan_in.closed = "failed"
    path = fan_in.group.fan_out.path
    error = {"type": type_, "message": message, "node": fan_in.target, "token": path, "group": fan_in.group.name}
    leave_unhandled(run, fan_in.group.outer, error)
    return True


def fan_in_timed_out(run: Run, fan_in: FanIn) -> None:
    fan_in.due = None
    if fan_in.sync.on_timeout == "proceed_with_available":
        # token-graphs.md#fan-in-timeouts: opens with the slots that arrived, and the live ones end `timed_out`.
        open_fan_in(run, fan_in, "timed_out")
        return
    for slot in fan_in.group.slots:  # "with `fail`, all of them do"
        if may_arrive(slot) or slot.arrived_at is fan_in:
            end_slot(run, slot, "timed_out")
    fail_fan_in(run, fan_in, "fan_in_timed_out", f"not open after {fan_in.sync.timeout_ms} ms")


def leave_unhandled(run: Run, place: Slot | None, error: Object) -> None:
    """An unhandled failure at a place: it loses a branch, or the run."""
    for slot in chain(place):
        # token-graphs.md#failures: if the token is in branches whose group has a join with `on_branch_failure:
        # continue`, the innermost such branch is lost and whatever else is under way in it is cancelled.
        if any(fan_in.sync.on_branch_failure == "continue" for fan_in in slot.group.fan_ins):
            end_slot(run, slot, "cancelled")
            slot.state = "lost"
            return
    raise RunFailed(error)
