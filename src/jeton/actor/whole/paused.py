"""A run that comes from elsewhere: whether its state fits its definition, and the same run paused."""

from collections.abc import Iterator

import msgspec

from jeton.actor.journal import JournalEntry
from jeton.actor.queries.snapshots import whole_sections
from jeton.actor.turn import take_turn
from jeton.actor.whole.run_copy import RunCopy, columns_of
from jeton.model.message import Message, PauseRun, TaskReturned
from jeton.model.state.phase import Asking, Dispatched, Executing, Sleeping, WaitingForRetry
from jeton.model.state.run import RunState
from jeton.planning.program.workflow import Program

_OF_A_TASK = (Dispatched, Executing, Sleeping, Asking, WaitingForRetry)


def misfits(program: Program, state: RunState) -> Iterator[str]:
    """The places in a run's state that its definition does not have, in words."""
    nodes, transitions = program.nodes, range(len(program.transitions))
    for token in state.tokens.values():
        if token.node not in nodes:
            yield f"a token is at the node '{token.node}', which the definition does not have"
        elif isinstance(token.phase, _OF_A_TASK) and nodes[token.node].task is None:
            yield f"a task was started at the node '{token.node}', which has none"
        if any(transition not in transitions for transition in token.loops):
            yield f"token {token.id} followed a transition that the definition does not have"
    for group in state.groups.values():
        if group.node not in nodes or any(segment.transition not in transitions for segment in group.segments):
            yield f"the branches of '{group.name}' come from a node or a transition that the definition does not have"
    for progress in state.progress.values():
        for node, fan_in in progress.fan_ins.items():
            if node not in nodes or fan_in.transition not in transitions:
                yield f"branches wait at the node '{node}', which the definition does not have"
    if state.has_flow:
        flow = state.flow
        for node in (*flow.executing, *flow.waiting, *flow.executed, *flow.skipped, *flow.errors, *flow.overrides):
            if node not in nodes:
                yield f"the node '{node}' was settled, and the definition does not have it"


def paused(copy: RunCopy, program: Program, now: int) -> RunCopy:
    """The run, paused by one more entry, unless it has ended. Its tasks are given back, so that none is begun."""
    live = copy.live
    if live.state.head.ended:
        return copy
    at_work = Executing if live.state.head.paused else Dispatched | Executing  # a paused run has no others to give back
    batch: list[Message] = [
        TaskReturned(now, token.id, token.attempt)
        for token in live.state.tokens.values()
        if isinstance(token.phase, at_work)
    ]
    taken = take_turn(program, live, [*batch, PauseRun(now)], copy.hash, lambda: copy.live)
    entry = taken.turn.entry
    if entry is None:
        return copy
    return msgspec.structs.replace(
        copy,
        columns=columns_of(taken.run),
        hash=taken.turn.hash,
        sections=whole_sections(taken.run.state),
        journal=(*copy.journal, JournalEntry(entry.number, entry.hash, entry.body)),
    )
