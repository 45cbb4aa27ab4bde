"""What the tokens of an unfinished run wait for, and since when."""

from collections.abc import Iterator

from jeton.engine.views.explain.views import FanInView, Wait
from jeton.engine.views.tokens import TokenView
from jeton.model.definition.workflow import MOfN, Strategy
from jeton.model.ids import GroupId, SlotId, TokenId
from jeton.model.state.phase import (
    Dispatched,
    Executing,
    Pending,
    WaitingForSignal,
    WaitingForSubworkflow,
)
from jeton.model.state.ranges import numbers_in
from jeton.model.state.run import FanIn, RunState, Token
from jeton.model.times import maybe_moment, moment
from jeton.planning.program.workflow import Program
from jeton.planning.tokens.cancel import alive_in_slot, live_slots

MAX_LISTED = 20


def fan_ins(program: Program, state: RunState) -> tuple[FanInView, ...]:
    """Every fan-in that a branch has arrived at and that has not opened."""
    return tuple(
        _fan_in(program, state, group, node, fan_in)
        for group, progress in state.progress.items()
        for node, fan_in in progress.fan_ins.items()
    )


def _fan_in(program: Program, state: RunState, group_id: GroupId, node: str, fan_in: FanIn) -> FanInView:
    group, progress = state.groups[group_id], state.progress[group_id]
    sync = program.transitions[fan_in.transition].synchronization
    strategy: Strategy = "all" if sync is None else sync.strategy
    if node in progress.needed:
        strategy = MOfN(progress.needed[node])
    settled = sum(each.arrived for each in progress.fan_ins.values())
    return FanInView(
        group=group_id,
        name=group.name,
        node=node,
        strategy=_strategy_text(strategy),
        needed=_needed(strategy, fan_in.arrived + progress.live),
        arrived=fan_in.arrived,
        live=progress.live,
        lost=group.total - progress.live - settled,
        total=group.total,
        since=moment(fan_in.since),
        due=maybe_moment(fan_in.deadline),
        waits_for=_under_way(state, group_id),
    )


def _strategy_text(strategy: Strategy) -> str:
    return f"{strategy.m_of_n} of n" if isinstance(strategy, MOfN) else strategy


def _needed(strategy: Strategy, possible: int) -> int:
    """How many arrivals open it; with `all`, every branch that can still arrive."""
    match strategy:
        case "all":
            return possible
        case "any":
            return 1
        case MOfN(needed):
            return needed if isinstance(needed, int) else 1  # from data: known since the first arrival


def _under_way(state: RunState, group: GroupId) -> tuple[TokenId, ...]:
    found: list[TokenId] = []
    for slot in live_slots(state, group):
        found += [token for token in alive_in_slot(state, slot) if token in state.tokens]
        if len(found) >= MAX_LISTED:
            break
    return tuple(found[:MAX_LISTED])


def waits(program: Program, state: RunState, views: dict[TokenId, TokenView]) -> Iterator[Wait]:
    """What each live token waits for, by token."""
    waiting: dict[TokenId, Wait] = {token.id: _own_wait(token, views[token.id]) for token in state.tokens.values()}
    at_fan_ins = {(view.group, view.node): view for view in fan_ins(program, state)}
    for (group, node, _), arrived in state.arrived.items():
        for token in map(TokenId, numbers_in(arrived.tokens)):
            waiting[token] = _sibling_wait(views[token], node, at_fan_ins.get((group, node)))
    for slot_id, slot in state.slots.items():
        for token in slot.waiting:
            waiting[token] = _branch_wait(state, slot_id, views[token])
    yield from (waiting[token] for token in sorted(waiting))


def _own_wait(token: Token, view: TokenView) -> Wait:
    phase = token.phase
    return Wait(
        token.id,
        token.node,
        phase.kind,
        view.since if isinstance(phase, Pending) else moment(phase.since),
        maybe_moment(phase.wakes_at),
        ", ".join(phase.hears) if isinstance(phase, WaitingForSignal) else phase.caption,
        attempt=token.attempt if phase.work == "task" or phase.resumes_task else 1,
        deliveries=phase.deliveries if isinstance(phase, Dispatched | Executing) else 0,
        child=phase.child if isinstance(phase, WaitingForSubworkflow) else None,
    )


def _sibling_wait(view: TokenView, node: str, fan_in: FanInView | None) -> Wait:
    """The wait of a token whose branch has arrived at a fan-in."""
    return Wait(
        view.id,
        node,
        "siblings",
        view.since,
        None if fan_in is None else fan_in.due,
        fan_in=fan_in,
        waits_for=() if fan_in is None else fan_in.waits_for,
    )


def _branch_wait(state: RunState, slot_id: SlotId, view: TokenView) -> Wait:
    """The wait of a token for the rest of its branch: a branch arrives as a whole."""
    others = [token for token in alive_in_slot(state, slot_id) if token in state.tokens]
    return Wait(view.id, view.waits_at or view.node, "branch", view.since, waits_for=tuple(others[:MAX_LISTED]))
