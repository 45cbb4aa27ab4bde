"""Decisions about timers, child runs, gates and signals: what they change, and the facts they make true."""

import msgspec
from msgspec import UnsetType

from jeton.apply.draft import Draft
from jeton.apply.rule import no_change, no_facts, rule
from jeton.apply.token import dispatched, hand_out
from jeton.model import decision as d
from jeton.model import event as ev
from jeton.model.effect import SendMessage
from jeton.model.failure import BrokenInvariant
from jeton.model.json import Json
from jeton.model.message import StartRun
from jeton.model.state.phase import (
    Asking,
    Continuation,
    Dispatched,
    Executing,
    Sleeping,
    WaitingForGate,
    WaitingForSignal,
    WaitingForSubworkflow,
    WaitingForTimer,
)
from jeton.model.state.run import EarlyAnswer, Parent, Signal, Token
from jeton.model.transcript import depth_of, waiting_for

ANSWERED = "answered"
"""The name of the sleep of a task that was answered in a paused run."""


def _wait_for_timer(draft: Draft, decision: d.WaitForTimer) -> None:
    token = draft.token(decision.token)
    draft.state.head.executions += 1
    phase = WaitingForTimer(decision.at, decision.due, decision.label, decision.wall)
    draft.put_token(token.entering(phase))
    draft.timers.watch_token(decision.due, decision.at, token.id, wall=decision.wall)


def _call_workflow(draft: Draft, decision: d.CallWorkflow) -> None:
    """Start a child run and wait for it, in one commit."""
    token = draft.token(decision.token)
    draft.state.head.executions += 1
    phase = WaitingForSubworkflow(
        decision.at, decision.child, decision.workflow, decision.deadline, decision.inherit_artifacts
    )
    waiting = msgspec.structs.replace(token, phase=phase, input=decision.input)
    draft.put_token(waiting)
    if decision.deadline is not None:
        draft.timers.watch_token(decision.deadline, decision.at, token.id)
    start_child(draft, waiting, phase)


def start_child(draft: Draft, token: Token, call: WaitingForSubworkflow) -> None:
    """Ask for the start of a child run. Its id follows from the token's, so a second request changes nothing."""
    head = draft.state.head
    given: Json = draft.state.input if isinstance(token.input, UnsetType) else token.input
    turn = draft.turn_of(token)
    depth = head.depth if turn is None else depth_of(draft.state, turn)
    parent = Parent(
        head.run,
        token.id,
        head.root,
        depth + 1,
        call.inherit_artifacts,
        draft.speaker(token),
        waiting_for(draft.state, token),
    )
    trigger = None if head.trigger is None else msgspec.structs.replace(head.trigger, node=None)
    account = None if head.purse is None else head.purse.account or head.run
    start = StartRun(call.since, given, call.workflow, parent, trigger, account=account)
    draft.effects.append(SendMessage(call.child, start))


def _stop_child(draft: Draft, decision: d.StopChild) -> None:
    token = draft.token(decision.token)
    if not isinstance(token.phase, WaitingForSubworkflow) or token.phase.child != decision.child:
        raise BrokenInvariant("the token does not wait for this child", token=token.id)
    draft.stop_child(decision.child, decision.reason)


def _end_child(draft: Draft, decision: d.EndChild) -> None:
    """Count what the child cost in a run that works for an agent. A conversation counts it against a budget."""
    if not draft.state.has_talk:
        draft.state.head.model_cost += decision.spent


def _open_gate(draft: Draft, decision: d.OpenGate) -> None:
    token = draft.token(decision.token)
    draft.state.head.executions += 1
    phase = WaitingForGate(decision.at, decision.title, decision.deadline)
    draft.put_token(msgspec.structs.replace(token, phase=phase))
    if decision.deadline is not None:
        draft.timers.watch_token(decision.deadline, decision.at, token.id)


def _ask_input(draft: Draft, decision: d.AskInput) -> None:
    token = draft.token(decision.token)
    if not isinstance(token.phase, Dispatched | Executing):
        raise BrokenInvariant("no worker has the task", token=token.id)
    phase = Asking(decision.at, decision.title, decision.deadline, schema=decision.schema)
    continuation = Continuation(token.continued + 1, decision.state)
    draft.put_token(msgspec.structs.replace(token, phase=phase, slept=None, continuation=continuation))
    if decision.deadline is not None:
        draft.timers.watch_token(decision.deadline, decision.at, token.id)


def _continue_task(draft: Draft, decision: d.ContinueTask) -> None:
    token = draft.token(decision.token)
    if not isinstance(token.phase, Asking) or not token.phase.answers or token.continuation is None:
        raise BrokenInvariant("the task has asked nothing, or nobody has answered", token=token.id)
    answered = msgspec.structs.replace(token.continuation, answer=token.phase.answers[0].value)
    token = msgspec.structs.replace(token, continuation=answered)
    if decision.paused:
        draft.put_token(token.entering(Sleeping(decision.at, decision.at, ANSWERED)))
        draft.timers.watch_token(decision.at, decision.at, token.id)
    else:
        hand_out(draft, token, Dispatched(decision.at, decision.deadline))


def _take_answer(draft: Draft, decision: d.TakeAnswer) -> None:
    """Add an answer. Whether it completes the gate is in a decision of its own."""
    token = draft.token(decision.token)
    if not isinstance(token.phase, WaitingForGate):
        raise BrokenInvariant("the gate is not open", token=token.id)
    phase = msgspec.structs.replace(token.phase, answers=(*token.phase.answers, decision.answer))
    draft.put_token(msgspec.structs.replace(token, phase=phase))
    if decision.early is not None:
        draft.drop(draft.state.early, decision.early)
        draft.touched.rest.early.add(decision.early)


def _keep_answer(draft: Draft, decision: d.KeepAnswer) -> None:
    head = draft.state.head
    if decision.number != head.next_early:
        raise BrokenInvariant("an early answer is out of order", number=decision.number, next=head.next_early)
    head.next_early += 1
    draft.put(draft.state.early, decision.number, EarlyAnswer(decision.node, decision.path, decision.answer))
    draft.touched.rest.early.add(decision.number)


def _wait_for_signal(draft: Draft, decision: d.WaitForSignal) -> None:
    token, head = draft.token(decision.token), draft.state.head
    head.executions += 1
    phase = WaitingForSignal(
        decision.at, decision.name, head.next_turn, decision.deadline, decision.label, decision.names
    )
    head.next_turn += 1
    draft.put_token(msgspec.structs.replace(token, phase=phase))
    if decision.deadline is not None:
        draft.timers.watch_token(decision.deadline, decision.at, token.id)


def _keep_signal(draft: Draft, decision: d.KeepSignal) -> None:
    head = draft.state.head
    if decision.number != head.next_signal:
        raise BrokenInvariant("a signal is out of order", number=decision.number, next=head.next_signal)
    head.next_signal += 1
    draft.put(draft.state.signals.setdefault(decision.name, {}), decision.number, Signal(decision.value))
    draft.touched.rest.signals.add((decision.name, decision.number))
    if decision.key is not None:
        draft.put(draft.state.heard, decision.key, decision.at)
        draft.touched.rest.heard.add(decision.key)


def _take_signal(draft: Draft, decision: d.TakeSignal) -> None:
    draft.drop(draft.state.signals.get(decision.name, {}), decision.number)
    draft.touched.rest.signals.add((decision.name, decision.number))


def forget_waits(draft: Draft) -> None:
    """Remove signals and early answers that nobody took: the run is over."""
    state, touched = draft.state, draft.touched
    for name, kept in state.signals.items():
        touched.rest.signals.update((name, number) for number in kept)
        for number in list(kept):
            draft.drop(kept, number)
    if state.early:
        touched.rest.early.update(state.early)
        for number in list(state.early):
            draft.drop(state.early, number)
    if state.heard:
        touched.rest.heard.update(state.heard)
        for key in list(state.heard):
            draft.drop(state.heard, key)


# facts


def _timer_set(decision: d.WaitForTimer) -> tuple[ev.Fact, ev.Fact]:
    waiting = ev.TokenWaiting(decision.token, "timer", due=decision.due)
    return waiting, ev.TimerSet(decision.token, decision.due, decision.label)


def _called(decision: d.CallWorkflow) -> tuple[ev.Fact, ev.Fact]:
    waiting = ev.TokenWaiting(decision.token, "subworkflow", due=decision.deadline)
    return waiting, ev.ChildStarted(decision.token, decision.child, decision.workflow)


def _child_ended(decision: d.EndChild) -> tuple[ev.Fact]:
    if decision.status == "completed":
        return (ev.ChildCompleted(decision.token, decision.child),)
    if decision.status == "cancelled":
        reason = None if decision.error is None else decision.error.message
        return (ev.ChildCancelled(decision.token, decision.child, reason),)
    return (ev.ChildFailed(decision.token, decision.child, decision.error),)


def _gate_opened(decision: d.OpenGate | d.AskInput) -> tuple[ev.Fact, ev.Fact]:
    waiting = ev.TokenWaiting(decision.token, "gate", due=decision.deadline)
    return waiting, ev.GateOpened(decision.token, decision.node, decision.title, decision.deadline)


def _continued(decision: d.ContinueTask) -> tuple[ev.Fact, ev.Fact]:
    if decision.paused:
        waiting = ev.TokenWaiting(decision.token, "timer", due=decision.at)
        return waiting, ev.TimerSet(decision.token, decision.at, ANSWERED)
    return dispatched(decision)


RULES = (
    rule(d.WaitForTimer, _wait_for_timer, _timer_set, 2),
    rule(d.CallWorkflow, _call_workflow, _called, 2),
    rule(d.EndChild, _end_child, _child_ended),
    rule(d.StopChild, _stop_child, lambda x: (ev.ChildCancelled(x.token, x.child, x.reason),)),
    rule(d.OpenGate, _open_gate, _gate_opened, 2),
    rule(d.AskInput, _ask_input, _gate_opened, 2),
    rule(d.ContinueTask, _continue_task, _continued, 2),
    rule(d.TakeAnswer, _take_answer, lambda x: (ev.GateAnswered(x.token, x.node, x.answer.value, x.answer.by),)),
    rule(d.KeepAnswer, _keep_answer, no_facts, 0),
    rule(d.TimeOutGate, no_change, lambda x: (ev.GateTimedOut(x.token, x.node),)),
    rule(d.WaitForSignal, _wait_for_signal, lambda x: (ev.TokenWaiting(x.token, "signal", due=x.deadline),)),
    rule(d.KeepSignal, _keep_signal, lambda x: (ev.SignalReceived(x.name, x.value, x.key),)),
    rule(d.TakeSignal, _take_signal, no_facts, 0),
)
