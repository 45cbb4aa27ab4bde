"""Decisions about tokens and their tasks: what they change, and the facts they make true."""

from collections.abc import Iterator

import msgspec
from msgspec import UNSET, UnsetType

from jeton.apply.draft import Draft
from jeton.apply.rule import no_change, no_facts, rule
from jeton.model import decision as d
from jeton.model import event as ev
from jeton.model.effect import StartTask
from jeton.model.failure import BrokenInvariant, TaskFailed
from jeton.model.ids import TokenId
from jeton.model.json import Json
from jeton.model.note import CostNote, LogNote, MissingNote, ProgressNote, RetryNote, TokensNote
from jeton.model.state.phase import (
    Continuation,
    Dispatched,
    Executing,
    Pending,
    Sleeping,
    WaitingForGate,
    WaitingForRetry,
)
from jeton.model.state.ranges import count_in, numbers_in
from jeton.model.state.run import Slept, Slot, Token, TokenEnd
from jeton.model.transcript import model_input

_PENDING = Pending()
_EMPTY_SLOT = Slot()


def _create_token(draft: Draft, decision: d.CreateToken) -> None:
    head = draft.state.head
    if decision.token != head.next_token:
        raise BrokenInvariant("a token is out of order", token=decision.token, next=head.next_token)
    head.next_token += 1
    head.alive += 1
    slot = decision.slot
    if slot is not None and slot not in draft.state.slots:
        _, progress = draft.group(slot[0])
        group = draft.state.groups[slot[0]]
        segment = group.segment_of(slot[1])
        if slot[1] != group.segments[segment].first + progress.started[segment]:
            raise BrokenInvariant("a slot is out of order", slot=list(slot))
        draft.put(draft.state.slots, slot, _EMPTY_SLOT)
        draft.put_progress(
            group.id,
            msgspec.structs.replace(
                progress,
                started=_bumped(progress.started, segment, 1),
                flying=_bumped(progress.flying, segment, 1),
            ),
        )
    draft.put_token(Token(decision.token, decision.node, decision.path, _PENDING, slot, decision.loops, decision.error))


def _bumped(counts: tuple[int, ...], at: int, by: int) -> tuple[int, ...]:
    if len(counts) == 1:
        return (counts[0] + by,)
    return (*counts[:at], counts[at] + by, *counts[at + 1 :])


def _create_tokens(draft: Draft, decision: d.CreateTokens) -> None:
    for creation in decision.tokens:
        _create_token(draft, creation)


def _dispatch_token(draft: Draft, decision: d.DispatchToken) -> None:
    token = draft.token(decision.token)
    if type(token.phase) not in _DISPATCHABLE:
        raise BrokenInvariant("the token is neither pending nor waiting for a retry or an approval", token=token.id)
    if type(token.phase) is Pending:
        draft.state.head.executions += 1
    phase = Dispatched(decision.at, decision.deadline)
    draft.put_token(msgspec.structs.replace(token, phase=phase, attempt=decision.attempt, input=decision.input))
    draft.timers.watch_token(decision.deadline, decision.at, token.id)
    given = given_input(draft, token, decision.input)
    draft.effects.append(
        StartTask(
            token.id, token.node, decision.attempt, 1, given, decision.at, draft.state.facts, draft.speaker(token)
        )
    )


_DISPATCHABLE = frozenset((Pending, WaitingForRetry, WaitingForGate))


def _redeliver_token(draft: Draft, decision: d.RedeliverToken) -> None:
    token = draft.token(decision.token)
    hand_out(draft, token, Dispatched(decision.at, decision.deadline, decision.deliveries))


def _suspend_token(draft: Draft, decision: d.SuspendToken) -> None:
    token = draft.token(decision.token)
    if not isinstance(token.phase, Dispatched | Executing):
        raise BrokenInvariant("no worker has the task", token=token.id)
    phase = Sleeping(decision.at, decision.due, decision.sleep)
    continuation = left_behind(token, decision.state)
    draft.put_token(msgspec.structs.replace(token, phase=phase, slept=None, continuation=continuation))
    draft.timers.watch_token(decision.due, decision.at, token.id)


def left_behind(token: Token, state: Json) -> Continuation | None:
    """What the token's task leaves behind as it gives its worker back."""
    if state is None and token.continuation is None:
        return None
    return Continuation(token.continued + 1, state)


def _wake_token(draft: Draft, decision: d.WakeToken) -> None:
    token = draft.token(decision.token)
    if not isinstance(token.phase, Sleeping):
        raise BrokenInvariant("the task does not sleep", token=token.id)
    woken = msgspec.structs.replace(token, slept=Slept(token.phase.name, decision.at))
    hand_out(draft, woken, Dispatched(decision.at, decision.deadline))


def hand_out(draft: Draft, token: Token, phase: Dispatched) -> None:
    """Hand the same attempt, with the same input, to a worker again."""
    draft.put_token(token.entering(phase))
    draft.timers.watch_token(phase.deadline, phase.since, token.id)
    given = given_input(draft, token, token.input)
    draft.effects.append(
        StartTask(
            token.id,
            token.node,
            token.attempt,
            phase.deliveries,
            given,
            phase.since,
            draft.state.facts,
            draft.speaker(token),
            token.continuation,
        )
    )


def given_input(draft: Draft, token: Token, input: Json | UnsetType) -> Json:
    """The input of a task. A model call's is built from the conversation, and never stored."""
    if input is not UNSET:
        return input
    return model_input(draft.state.talk, token.path) if draft.state.has_talk else draft.state.input


def _mark_executing(draft: Draft, decision: d.MarkExecuting) -> None:
    token = draft.token(decision.token)
    if not isinstance(token.phase, Dispatched):
        raise BrokenInvariant("the token is not dispatched", token=token.id)
    phase = Executing(decision.at, decision.deadline, token.phase.deliveries)
    draft.put_token(token.entering(phase))
    draft.timers.watch_token(decision.deadline, decision.at, token.id)


def _retry_token(draft: Draft, decision: d.RetryToken) -> None:
    token = draft.token(decision.token)
    if decision.failure.type == "timed_out":  # its worker does not know
        draft.stop_task(token)
    phase = WaitingForRetry(decision.at, decision.due)
    draft.put_token(msgspec.structs.replace(token, phase=phase, attempt=decision.attempt, continuation=None))
    draft.timers.watch_token(decision.due, decision.at, token.id)


def _finish_node(draft: Draft, decision: d.FinishNode) -> None:
    token = draft.token(decision.token)
    draft.finished = token.id
    if type(token.phase) is Pending:  # the node has no target
        draft.state.head.executions += 1
    for path, value in decision.writes.items():
        draft.write(token.slot, path, value)
    if token.error is not None:  # cleared by a success, after the mapping and before routing
        draft.put_token(msgspec.structs.replace(token, error=None))


def _fail_node(draft: Draft, decision: d.FailNode) -> None:
    token = draft.token(decision.token)
    draft.stop_task(token)
    if type(token.phase) is Pending and draft.finished != token.id:  # a node that finished is counted already
        draft.state.head.executions += 1


def _route_token(draft: Draft, decision: d.RouteToken) -> None:
    token = draft.token(decision.token)
    if decision.ends is not None:
        draft.drop_token(token)
        draft.state.head.alive -= 1


def _end_tokens(draft: Draft, decision: d.EndTokens) -> None:
    for number in numbers_in(decision.tokens):
        token = draft.state.tokens.get(TokenId(number))
        if token is not None:  # a token at a fan-in is kept there, as a number
            draft.stop_task(token)
            draft.drop_token(token)
        draft.state.head.alive -= 1


def _abandon_tokens(draft: Draft, decision: d.AbandonTokens) -> None:
    """Take tokens out of their slot. They may finish, and change nothing."""
    for number in numbers_in(decision.tokens):
        token = draft.token(TokenId(number))
        draft.drop_token(token)
        draft.put_token(msgspec.structs.replace(token, slot=None, abandoned=True))


def _note_task(draft: Draft, decision: d.NoteTask) -> None:
    """Keep the cost that a note reports. Other notes are only recorded."""
    note, head = decision.note, draft.state.head
    if isinstance(note, TokensNote):
        draft.touched.usage = True
        works_for_agent = head.parent is not None and head.parent.speaker is not None and not draft.state.has_talk
        head.model_cost += note.millionths or 0 if works_for_agent else 0
    if isinstance(decision.note, CostNote) and draft.state.head.purse is not None:
        draft.put_token(msgspec.structs.replace(draft.token(decision.token), cost=decision.note.credits))


# facts


def _created(decision: d.CreateToken) -> ev.Fact:
    index = None if decision.slot is None else decision.slot[1]
    return ev.TokenCreated(decision.token, decision.node, decision.path, decision.parent, index)


def dispatched(decision: d.DispatchToken | d.WakeToken | d.ContinueTask) -> tuple[ev.Fact, ev.Fact]:
    task = ev.TaskDispatched(decision.token, decision.node, decision.attempt)
    return ev.TokenDispatched(decision.token), task


def _suspended(decision: d.SuspendToken) -> tuple[ev.Fact, ev.Fact]:
    waiting = ev.TokenWaiting(decision.token, "timer", due=decision.due)
    return waiting, ev.TimerSet(decision.token, decision.due, decision.sleep)


def _noted(decision: d.NoteTask) -> tuple[ev.Fact]:
    where = decision.token, decision.node, decision.attempt
    match decision.note:
        case ProgressNote(step, done, text):
            return (ev.TaskProgress(*where, step, done, text),)
        case LogNote(step, stream, text, truncated):
            return (ev.TaskLog(*where, step, stream, text, truncated),)
        case MissingNote(step, paths):
            return (ev.TaskMissing(*where, step, paths),)
        case CostNote(step, credits):
            return (ev.TaskCost(*where, step, credits),)
        case TokensNote(step, profile, input, output):
            return (ev.TaskTokens(*where, step, profile, input, output),)
        case RetryNote(step, call, due, type, message):
            return (ev.TaskRetrying(*where, due, TaskFailed(type, message, step, transient=True), call),)


def _retrying(decision: d.RetryToken) -> tuple[ev.Fact, ev.Fact]:
    waiting = ev.TokenWaiting(decision.token, "retry", due=decision.due)
    return (
        ev.TaskRetrying(decision.token, decision.node, decision.attempt, decision.due, decision.failure),
        waiting,
    )


def _finished(decision: d.FinishNode) -> Iterator[ev.Fact]:
    if decision.work == "task":
        yield ev.TaskCompleted(decision.token, decision.node)
    elif decision.work == "timer":
        yield ev.TimerFired(decision.token)
    if decision.writes or decision.missing:
        yield ev.ContextUpdated(decision.token, decision.writes, decision.missing)


def _ended(token: TokenId, status: TokenEnd, reason: str | None = None) -> ev.Fact:
    match status:
        case "completed":
            return ev.TokenCompleted(token)
        case "failed":
            return ev.TokenFailed(token)
        case "timed_out":
            return ev.TokenTimedOut(token)
        case "cancelled":
            return ev.TokenCancelled(token, reason)


def _all_ended(decision: d.EndTokens) -> Iterator[ev.Fact]:
    return (_ended(TokenId(number), decision.status, decision.reason) for number in numbers_in(decision.tokens))


RULES = (
    rule(d.CreateToken, _create_token, lambda x: (_created(x),)),
    rule(d.CreateTokens, _create_tokens, lambda x: map(_created, x.tokens), lambda x: len(x.tokens)),
    rule(d.DispatchToken, _dispatch_token, dispatched, 2),
    rule(
        d.RedeliverToken,
        _redeliver_token,
        lambda x: (ev.TaskDispatched(x.token, x.node, x.attempt, x.deliveries),),
    ),
    rule(d.SuspendToken, _suspend_token, _suspended, 2),
    rule(d.WakeToken, _wake_token, lambda x: (ev.TimerFired(x.token), *dispatched(x)), 3),
    rule(d.MarkExecuting, _mark_executing, lambda x: (ev.TokenExecuting(x.token),)),
    rule(d.NoteTask, _note_task, _noted),
    rule(d.RetryToken, _retry_token, _retrying, 2),
    rule(d.FinishNode, _finish_node, _finished, lambda x: (x.work is not None) + bool(x.writes or x.missing)),
    rule(d.FailNode, _fail_node, lambda x: (ev.TaskFailedAt(x.token, x.node, x.error),)),
    rule(
        d.RouteToken,
        _route_token,
        lambda x: () if x.ends is None else (_ended(x.token, x.ends),),
        lambda x: x.ends is not None,
    ),
    rule(d.EndTokens, _end_tokens, _all_ended, lambda x: count_in(x.tokens)),
    rule(d.AbandonTokens, _abandon_tokens, no_facts, 0),
    rule(d.IgnoreLate, no_change, lambda x: (ev.LateIgnored(x.token, x.attempt, x.why),)),
)
