"""Ending tokens and runs, with everything inside them."""

from collections.abc import Collection, Iterator

from jeton.model.decision import Decision, EndRun, EndTokens, RouteToken, StopAgent, StopChild
from jeton.model.failure import RunError
from jeton.model.ids import GroupId, SlotId, TokenId
from jeton.model.state.phase import WaitingForAgent, WaitingForSubworkflow
from jeton.model.state.ranges import numbers_in, to_ranges
from jeton.model.state.run import Arrived, RunState, RunStatus, Token, TokenEnd


def alive_in_slot(state: RunState, slot_id: SlotId) -> list[TokenId]:
    """Every token in a live slot and in the slots inside it, waiting ones included."""
    slot = state.slots[slot_id]
    found = [*slot.tokens, *slot.waiting]
    for inner in slot.groups:
        found += alive_in_group(state, inner)
    return found


def alive_in_group(state: RunState, group_id: GroupId) -> list[TokenId]:
    """Every token of a group: in its live slots, and at its fan-ins."""
    found = [token for slot in live_slots(state, group_id) for token in alive_in_slot(state, slot)]
    for node in state.progress[group_id].fan_ins:
        for arrived in arrived_at(state, group_id, node):
            found += map(TokenId, numbers_in(arrived.tokens))
    return found


def arrived_at(state: RunState, group_id: GroupId, node: str) -> Iterator[Arrived]:
    """The slots that wait at a fan-in, in stretches by index."""
    for stretch in state.groups[group_id].stretches():
        arrived = state.arrived.get((group_id, node, stretch))
        if arrived is not None:
            yield arrived


def live_slots(state: RunState, group_id: GroupId) -> list[SlotId]:
    """The live slots of a group."""
    group, progress = state.groups[group_id], state.progress[group_id]
    return [
        (group_id, index)
        for segment, started in zip(group.segments, progress.started, strict=True)
        for index in range(segment.first, segment.first + started)
        if (group_id, index) in state.slots
    ]


def alive_in_run(state: RunState) -> set[TokenId]:
    """Every token that has not ended."""
    found = set(state.tokens)
    for slot in state.slots.values():
        found.update(slot.waiting)
    for arrived in state.arrived.values():
        found.update(map(TokenId, numbers_in(arrived.tokens)))
    return found


def end_tokens(state: RunState, tokens: Collection[TokenId], status: TokenEnd, reason: str) -> list[Decision]:
    """End tokens without routing, after stopping the runs they called."""
    if not tokens:
        return []
    stopped: list[Decision] = []
    for token_id in sorted(tokens):
        token = state.tokens.get(token_id)
        if token is not None:
            stopped += stop_children(token, reason)
    return [*stopped, EndTokens(to_ranges(tokens), status, reason)]


def stop_children(token: Token, reason: str) -> list[Decision]:
    """Stop the run or the agent that the token waits for, if any."""
    if isinstance(token.phase, WaitingForSubworkflow):
        return [StopChild(token.id, token.phase.child, reason)]
    if isinstance(token.phase, WaitingForAgent):
        return [StopAgent(token.id, token.phase.conversation, reason)]
    return []


def end_run(
    state: RunState,
    now: int,
    status: RunStatus,
    error: RunError | None,
    *,
    failing: Token | None = None,
    ends: TokenEnd = "failed",
    rest: TokenEnd = "cancelled",
    ended: set[TokenId] | None = None,
    ended_by: Token | None = None,
    untold: bool = False,
) -> list[Decision]:
    """End the run other than completed: the failing token first, then all others, then the run.

    `ended` and `ended_by`, the token of an end node, are routed already."""
    decisions: list[Decision] = []
    others = alive_in_run(state) - (ended or set())
    if ended_by is not None:
        others.discard(ended_by.id)
    if failing is not None:
        decisions.append(RouteToken(failing.id, failing.node, ends))
        others.discard(failing.id)
    reason = status if error is None else error.message if status == "cancelled" else error.type
    decisions += end_tokens(state, others, rest, f"run {status}: {reason}")
    decisions.append(
        EndRun(now, status, error=error, untold=untold, ended_by=None if ended_by is None else ended_by.id)
    )
    return decisions
