"""What follows from a settled slot: an arrival, a fan-in that opens or fails, another slot, the end of a group.

A slot settles once, because only a live slot can settle. Counters say how many are live and how many arrived, so
siblings are not scanned until a fan-in opens.
"""

from typing import Literal

import msgspec
from msgspec import UNSET

from jeton.expression import Expression
from jeton.expression.counts import NotACount, count_of
from jeton.model import decision as d
from jeton.model.definition.workflow import MOfN, Strategy, Synchronization
from jeton.model.failure import RunError
from jeton.model.ids import GroupId, SlotId, TokenId, branch_path
from jeton.model.state.lineage import Join
from jeton.model.state.ranges import numbers_in, to_ranges
from jeton.model.state.run import Group, Progress, RunState, TokenEnd
from jeton.planning.program.workflow import CompiledTransition, Program
from jeton.planning.tokens.cancel import alive_in_group, alive_in_slot, arrived_at, end_run, end_tokens, live_slots
from jeton.planning.tokens.failure import continuing_slot
from jeton.planning.tokens.joins import joins_of
from jeton.planning.tokens.merge import MergeFailed, merge, source_value, with_inner_outputs
from jeton.planning.tokens.routing import Creations, joined_from_new, too_many_tokens
from jeton.planning.tokens.scope import scope_of_fan_in
from jeton.planning.tokens.writes import state_problem

FanInVerdict = Literal["waits", "opens", "fails"]


def fan_in_verdict(strategy: Strategy, arrived: int, live: int) -> FanInVerdict:
    """Whether a fan-in opens now, can no longer open, or waits."""
    match strategy:
        case "all":
            return "waits" if live else "opens"
        case "any":
            return "opens" if arrived else "waits" if live else "fails"
        case MOfN(needed):
            assert isinstance(needed, int), "a quorum from data is evaluated before"
            return "opens" if arrived >= needed else "waits" if arrived + live >= needed else "fails"


def plan_slot(program: Program, state: RunState, slot_id: SlotId, now: int) -> list[d.Decision]:
    """Settle a slot with nothing under way: it arrived where a token of it did, or it is lost."""
    slot = state.slots.get(slot_id)
    if slot is None or not slot.quiet:
        return []
    if slot.reached is None:
        return [d.SettleSlot(slot_id, now)]
    group_id, node, transition = slot.reached
    output = with_inner_outputs(slot.output, slot.laid)
    if group_id != slot_id[0]:
        return [d.SettleSlot(slot_id, now, escaped=output)]
    sync = _synchronization(program, transition)
    timeout = needed = None
    if node not in state.progress[group_id].fan_ins:  # the first arrival
        found = _numbers(state, state.groups[group_id], program.transitions[transition])
        if isinstance(found, NotACount):
            error = RunError(found.type, found.message, node)
            return fail_fan_in(program, state, state.groups[group_id], error, now)
        timeout, needed = found
    deadline = None if timeout is None else now + timeout
    value = UNSET if sync.merge is None else source_value(sync.merge.source, output)
    return [d.SettleSlot(slot_id, now, node, transition, deadline, value, needed=needed)]


def _numbers(
    state: RunState, group: Group, transition: CompiledTransition
) -> tuple[int | None, int | None] | NotACount:
    """The timeout of a fan-in, and its quorum if that comes from data."""
    timeout, needed = transition.timeout, transition.needed
    if needed is None and not isinstance(timeout, Expression):
        return timeout, None
    names = scope_of_fan_in(state, group.outer)
    quorum = None if needed is None else count_of("m_of_n", needed, names)
    if isinstance(quorum, NotACount):
        return quorum
    after = count_of("timeout_ms", timeout, names) if isinstance(timeout, Expression) else timeout
    return after if isinstance(after, NotACount) else (after, quorum)


def plan_group(program: Program, state: RunState, group_id: GroupId, now: int) -> list[d.Decision]:
    """Plan what follows for a group whose slot settled, or that was just opened."""
    group = state.groups.get(group_id)
    if group is None:
        return []
    progress = state.progress[group_id]
    for node, fan_in in progress.fan_ins.items():
        sync = _synchronization(program, fan_in.transition)
        if node in progress.needed:
            sync = msgspec.structs.replace(sync, strategy=MOfN(progress.needed[node]))
        verdict = fan_in_verdict(sync.strategy, fan_in.arrived, progress.live)
        if verdict != "waits":
            return _act(program, state, group, node, sync, verdict, now)
    if not progress.fan_ins:
        decided = _plan_unreached(program, state, group, progress, now)
        if decided:
            return decided
    return _start_slots(program, state, group, progress, now)


def _plan_unreached(program: Program, state: RunState, group: Group, progress: Progress, now: int) -> list[d.Decision]:
    """No slot has arrived anywhere: the next join may have to open empty, or fail."""
    joins = () if progress.opened else joins_of(program, state, group)
    if progress.live == 0:
        if not joins:
            return [d.CloseGroup(group.id)]
        return _plan_last_loss(program, state, group, joins[0], now)
    if len(joins) != 1 or program.transitions[joins[0].transition].needed is not None:
        return []  # a quorum from data is first looked at when a slot arrives, or the last is lost
    if fan_in_verdict(joins[0].synchronization.strategy, 0, progress.live) == "fails":
        return _act(program, state, group, joins[0].node, joins[0].synchronization, "fails", now)
    return []


def _plan_last_loss(program: Program, state: RunState, group: Group, join: Join, now: int) -> list[d.Decision]:
    """No slot arrived and none is left: an empty group opens its join, any other asks the strategy."""
    node, sync = join.node, join.synchronization
    if group.total == 0:
        return _act(program, state, group, node, sync, "opens", now)
    quorum = program.transitions[join.transition].needed
    if quorum is not None:
        needed = count_of("m_of_n", quorum, scope_of_fan_in(state, group.outer))
        if isinstance(needed, NotACount):
            return fail_fan_in(program, state, group, RunError(needed.type, needed.message, node), now)
        sync = msgspec.structs.replace(sync, strategy=MOfN(needed))
    return _act(program, state, group, node, sync, fan_in_verdict(sync.strategy, 0, 0), now)


def _act(
    program: Program, state: RunState, group: Group, node: str, sync: Synchronization, verdict: FanInVerdict, now: int
) -> list[d.Decision]:
    if verdict == "opens":
        return open_fan_in(program, state, group, node, sync, now)
    if isinstance(sync.strategy, MOfN):
        message = f"fewer than {sync.strategy.m_of_n} of {group.total} branches can still arrive at '{node}'"
        return fail_fan_in(program, state, group, RunError("quorum_impossible", message, node), now)
    message = f"every one of {group.total} branches was lost before '{node}'"
    return fail_fan_in(program, state, group, RunError("fan_in_lost", message, node), now)


def open_fan_in(
    program: Program,
    state: RunState,
    group: Group,
    node: str,
    sync: Synchronization,
    now: int,
    left_behind: TokenEnd = "cancelled",
) -> list[d.Decision]:
    """Open a fan-in: merge what arrived in index order, end or abandon the rest, and create one token."""
    if not _has_room(program, state, group):
        return end_run(state, now, "failed", too_many_tokens(program, node))
    arrived = list(arrived_at(state, group.id, node))
    slots = [index for stretch in arrived for index in numbers_in(stretch.slots)]
    merged: list[d.Decision] = []
    if sync.merge is not None:
        brought = {index: value for stretch in arrived for index, value in stretch.values.items()}
        value = merge(sync.merge.strategy, [(index, brought.get(index, UNSET)) for index in slots])
        if isinstance(value, MergeFailed):
            return fail_fan_in(program, state, group, RunError("merge_failed", value.problem, node), now)
        problem = None if group.outer else state_problem(program, state, {sync.merge.target: value})
        if problem is not None:
            return fail_fan_in(program, state, group, RunError("state_invalid", problem, node), now)
        merged.append(d.MergeBranches(group.id, node, sync.merge.target, value, group.outer))
    tokens = to_ranges(token for stretch in arrived for token in numbers_in(stretch.tokens))
    onward = d.CreateToken(TokenId(state.head.next_token), node, group.path, group.origin, group.outer, group.loops)
    return [
        *_leave(state, group, node, sync, left_behind),
        d.OpenFanIn(group.id, node, to_ranges(slots), tokens),
        *merged,
        onward,
    ]


def _has_room(program: Program, state: RunState, group: Group) -> bool:
    """Whether the limit of tokens allows one more, after those in live slots have ended."""
    room = program.workflow.limits.max_tokens - state.head.busy - state.head.parked
    return room > 0 or any(
        token in state.tokens for slot in live_slots(state, group.id) for token in alive_in_slot(state, slot)
    )


def _leave(state: RunState, group: Group, node: str, sync: Synchronization, left_behind: TokenEnd) -> list[d.Decision]:
    """End or abandon the tokens of live slots when their fan-in opens."""
    tokens = [token for slot in live_slots(state, group.id) for token in alive_in_slot(state, slot)]
    left: list[TokenId] = []
    if sync.on_early_complete == "abandon" and left_behind == "cancelled":
        left = [t for t in tokens if _outlives_branch(state, t)]
    ended = set(tokens) - set(left)
    decisions: list[d.Decision] = []
    if left:
        decisions.append(d.AbandonTokens(to_ranges(left)))
    return decisions + end_tokens(state, ended, left_behind, f"the fan-in at '{node}' opened")


def _outlives_branch(state: RunState, token_id: TokenId) -> bool:
    token = state.tokens.get(token_id)
    return token is not None and token.phase.outlives_branch


def fail_fan_in(
    program: Program, state: RunState, group: Group, error: RunError, now: int, rest: TokenEnd = "cancelled"
) -> list[d.Decision]:
    """Fail a fan-in: the innermost enclosing branch that may be lost is lost, else the run fails."""
    own = set(alive_in_group(state, group.id))
    decisions = end_tokens(state, own, rest, error.type)
    lost = continuing_slot(program, state, group.outer)
    if lost is None:
        return decisions + end_run(state, now, "failed", error, ended=own)
    others = set(alive_in_slot(state, lost)) - own
    decisions += end_tokens(state, others, "cancelled", f"branch lost: {error.type}")
    return [*decisions, d.SettleSlot(lost, now)]


def plan_fan_in_timeout(program: Program, state: RunState, group_id: GroupId, node: str, now: int) -> list[d.Decision]:
    """Time out a fan-in; its time began with the first arrival."""
    group = state.groups[group_id]
    fan_in = state.progress[group_id].fan_ins[node]
    sync = _synchronization(program, fan_in.transition)
    timed_out = d.TimeOutFanIn(group_id, node)
    if sync.on_timeout == "proceed_with_available":
        return [timed_out, *open_fan_in(program, state, group, node, sync, now, "timed_out")]
    waited = (fan_in.deadline or now) - fan_in.since
    message = f"{fan_in.arrived} of {group.total} branches were at '{node}' {waited} ms after the first"
    error = RunError("fan_in_timed_out", message, node)
    return [timed_out, *fail_fan_in(program, state, group, error, now, rest="timed_out")]


def _start_slots(program: Program, state: RunState, group: Group, progress: Progress, now: int) -> list[d.Decision]:
    """Start the next slots of segments with `max_parallel`."""
    creations = Creations(state, group.origin, group.node, group.loops, group.error)
    for number, segment in enumerate(group.segments):
        if segment.max_parallel is None:
            continue
        started = progress.started[number]
        room = min(segment.max_parallel - progress.flying[number], segment.count - started)
        transition = program.transitions[segment.transition]
        joined = joined_from_new(state, group.outer, transition, group.name, group.id)
        for index in range(segment.first + started, segment.first + started + room):
            creations.add(transition, branch_path(group.path, transition.target, index), (group.id, index), joined)
    if state.head.busy + state.head.parked + len(creations.decisions) > program.workflow.limits.max_tokens:
        return end_run(state, now, "failed", too_many_tokens(program, group.node))
    return [*creations.decisions, *creations.arrivals]


def _synchronization(program: Program, transition: int) -> Synchronization:
    sync = program.transitions[transition].synchronization
    assert sync is not None, "a fan-in is reached over a transition that synchronizes"
    return sync
