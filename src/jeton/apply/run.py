"""Decisions about the run as a whole: what they change, and the facts they make true."""

from collections.abc import Iterator

import msgspec

from jeton.apply.credits import close_purse
from jeton.apply.draft import Draft
from jeton.apply.rule import no_change, no_facts, rule
from jeton.apply.turn import end_turns
from jeton.apply.waits import forget_waits
from jeton.model import decision as d
from jeton.model import event as ev
from jeton.model.effect import SendMessage
from jeton.model.failure import BrokenInvariant
from jeton.model.message import ChildEnded, PauseRun, UnpauseRun
from jeton.model.state.phase import WaitingForSubworkflow


def _begin_run(draft: Draft, decision: d.BeginRun) -> None:
    head = draft.state.head
    if head.status != "submitted":
        raise BrokenInvariant("the run began already", status=head.status)
    draft.state.take_input(decision.input)
    draft.touched.input = True
    head.status = "running"
    head.submitted_at = head.started_at = decision.at
    head.deadline = decision.deadline
    head.parent, head.trigger, head.purse = decision.parent, decision.trigger, decision.purse
    for key, value in decision.state.items():
        draft.put(draft.state.state, key, value)
        draft.touched.state.add(key)
    head.key = decision.key
    draft.state.renew_facts()
    if decision.overrides:
        draft.state.flow.overrides = decision.overrides
        draft.touched.overrides = True
    if decision.deadline is not None:
        draft.timers.watch_run(decision.deadline, decision.at)


def _begun(decision: d.BeginRun) -> Iterator[ev.Fact]:
    yield ev.RunSubmitted(decision.input)
    fired = decision.trigger
    if fired is not None and decision.parent is None:
        yield ev.TriggerFired(fired.type, fired.depth, fired.id, fired.source)
    yield ev.RunStarted()


def _end_run(draft: Draft, decision: d.EndRun) -> None:
    head = draft.state.head
    if decision.broken:
        draft.drop_everything()
    elif head.alive or draft.state.tokens:
        raise BrokenInvariant("the run ends with tokens under way", alive=head.alive)
    head.status, head.ended_at = decision.status, decision.at
    head.error, head.result = decision.error, decision.output
    if draft.state.has_talk:
        end_turns(draft, decision.at, decision.error)
    for group in list(draft.state.groups):
        if group in draft.state.groups:
            draft.drop_group(group)
    forget_waits(draft)
    close_purse(draft, decision.at)
    draft.urgent.clear()
    draft.ready.clear()
    if head.parent is not None and not decision.untold:
        output = None if decision.output is msgspec.UNSET else decision.output
        ended = ChildEnded(
            decision.at, head.parent.token, head.run, decision.status, output, decision.error, head.model_cost
        )
        draft.effects.append(SendMessage(head.parent.run, ended))


def _ended(decision: d.EndRun) -> tuple[ev.Fact]:
    match decision.status:
        case "completed":
            return (ev.RunCompleted(decision.output),)
        case "failed":
            return (ev.RunFailed(decision.error),)
        case "cancelled":
            return (ev.RunCancelled(decision.error),)
        case "timed_out":
            return (ev.RunTimedOut(decision.error),)
        case "exhausted":
            return (ev.RunExhausted(decision.error),)
        case "submitted" | "running" | "waiting":
            raise BrokenInvariant("not a status that a run ends with", status=decision.status)


def _set_status(draft: Draft, decision: d.SetStatus) -> None:
    draft.state.head.status = decision.status


def _set_paused(draft: Draft, decision: d.SetPaused) -> None:
    """Pause or unpause the run and its children."""
    draft.state.head.paused = decision.paused
    draft.timers.rebuild()
    for token in draft.state.tokens.values():
        if isinstance(token.phase, WaitingForSubworkflow):
            message = PauseRun(draft.now) if decision.paused else UnpauseRun(draft.now)
            draft.effects.append(SendMessage(token.phase.child, message))


def _firing(decision: d.NoteFiring) -> tuple[ev.Fact]:
    if decision.code is not None:
        return (ev.TriggerRefused(decision.trigger, decision.code, decision.problem or ""),)
    return (ev.TriggerFired("event", decision.depth, decision.trigger, started=decision.run),)


RULES = (
    rule(d.BeginRun, _begin_run, _begun, lambda x: 2 + (x.trigger is not None and x.parent is None)),
    rule(d.SetStatus, _set_status, lambda x: (ev.RunWaiting() if x.status == "waiting" else ev.RunResumed(),)),
    rule(d.SetPaused, _set_paused, lambda x: (ev.RunPaused() if x.paused else ev.RunUnpaused(),)),
    rule(d.NoteFiring, no_change, _firing),
    rule(d.ReplyTo, no_change, no_facts, 0),
    rule(d.EndRun, _end_run, _ended),
)
