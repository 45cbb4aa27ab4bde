"""How the history of another run becomes this run's own."""

from collections.abc import Iterator

import msgspec
from msgspec import UnsetType

from jeton.apply.credits import forked_purse
from jeton.apply.draft import Draft
from jeton.apply.rule import rule
from jeton.apply.turn import rewind
from jeton.apply.waits import start_child
from jeton.model import decision as d
from jeton.model import event as ev
from jeton.model.cue import GroupChanged, SlotQuiet, TokenReady
from jeton.model.decision.fork import DONE_AGAIN
from jeton.model.effect import StartTask
from jeton.model.ids import child_run_id
from jeton.model.json import Json
from jeton.model.state.phase import (
    Dispatched,
    Executing,
    Pending,
    Phase,
    WaitingForGate,
    WaitingForSignal,
    WaitingForSubworkflow,
)
from jeton.model.state.run import Fork, Token


def _fork_history(draft: Draft, decision: d.ForkHistory) -> None:
    """Ask again, for this run, for everything under way. Deadlines move by the time between the two runs."""
    state = draft.state
    state.head.forked = Fork(decision.run, decision.entry)
    state.head.paused = False
    state.head.key = None
    state.head.submitted_at = state.head.started_at = decision.at
    state.renew_facts()
    state.head.deadline = decision.deadline
    forked_purse(draft, decision.credits)
    for path, value in decision.writes.items():
        draft.write(None, path, value)
    for dropped in decision.dropped:  # nothing has been asked for in this run yet
        draft.drop_token(draft.token(dropped))
        state.head.alive -= 1
    if decision.turn is not None:
        rewind(draft, decision.turn)
    for token in list(state.tokens.values()):
        phase = _moved(draft, token, decision)
        moved = msgspec.structs.replace(token, phase=phase, reserved=0, cost=None)
        if isinstance(phase, Pending):
            moved = msgspec.structs.replace(moved, slept=None, continuation=None)
        draft.put_token(moved)
        _ask_again(draft, moved)
    for waiters in state.waiters.values():
        ordered = sorted(waiters, key=lambda t: _turn(state.tokens[t]))
        waiters.clear()
        waiters.update(dict.fromkeys(ordered))
    for group, progress in list(state.progress.items()):
        fan_ins = {
            node: msgspec.structs.replace(f, deadline=None if f.deadline is None else f.deadline + decision.shift)
            for node, f in progress.fan_ins.items()
        }
        draft.put_progress(group, msgspec.structs.replace(progress, fan_ins=fan_ins))
    draft.timers.rebuild()
    _look_at_everything(draft)


def _moved(draft: Draft, token: Token, decision: d.ForkHistory) -> Phase:
    """The phase in the fork: a wait until a time keeps it, and the timeout of a task or child begins anew.

    With an edited state, work under way begins again from its input mapping: its input came from the old state."""
    if decision.writes and not token.abandoned and token.phase.restarts_on_edit:
        return Pending()
    match token.phase:
        case Dispatched(since, deadline) | Executing(since, deadline):
            return Dispatched(decision.at, decision.at + (deadline - since))
        case WaitingForSubworkflow(since, deadline=deadline):
            child = child_run_id(draft.state.head.run, token.id)
            due = None if deadline is None else decision.at + (deadline - since)
            return msgspec.structs.replace(token.phase, since=decision.at, child=child, deadline=due)
        case WaitingForGate(deadline=int() as deadline) | WaitingForSignal(deadline=int() as deadline):
            return msgspec.structs.replace(token.phase, deadline=deadline + decision.shift)
        case _:
            return token.phase


def _turn(token: Token) -> int:
    return token.phase.turn if isinstance(token.phase, WaitingForSignal) else 0


def _ask_again(draft: Draft, token: Token) -> None:
    """Start the task or child again: the answer to the other run's request never reaches this one."""
    match token.phase:
        case Dispatched(since=since):
            given: Json = draft.state.input if isinstance(token.input, UnsetType) else token.input
            facts, left = draft.state.facts, token.continuation
            draft.effects.append(
                StartTask(token.id, token.node, token.attempt, 1, given, since, facts, continuation=left)
            )
        case WaitingForSubworkflow():
            start_child(draft, token, token.phase)
        case _:
            pass


def _look_at_everything(draft: Draft) -> None:
    """Queue everything that may move: the shared history may end in the middle of a batch."""
    state = draft.state
    draft.urgent.extend(SlotQuiet(slot_id) for slot_id, slot in state.slots.items() if slot.quiet)
    draft.urgent.extend(GroupChanged(group) for group in state.groups)
    draft.ready.extend(TokenReady(t.id) for t in state.tokens.values() if type(t.phase) is Pending)


def _forked(decision: d.ForkHistory) -> Iterator[ev.Fact]:
    yield ev.RunForked(decision.run, decision.entry, decision.writes)
    for token in decision.dropped:
        yield ev.TokenCancelled(token, DONE_AGAIN)


RULES = (rule(d.ForkHistory, _fork_history, _forked, lambda x: 1 + len(x.dropped)),)
