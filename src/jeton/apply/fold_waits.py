"""What decisions about other runs, people and signals do to a run."""

import msgspec
from msgspec import UnsetType

from jeton.apply.draft import Draft
from jeton.model.decision import (
    CallWorkflow,
    KeepAnswer,
    KeepSignal,
    OpenGate,
    SetPaused,
    StopChild,
    TakeAnswer,
    TakeSignal,
    WaitForSignal,
)
from jeton.model.effect import SendMessage
from jeton.model.failure import BrokenInvariant
from jeton.model.json import Json
from jeton.model.message import PauseRun, StartRun, UnpauseRun
from jeton.model.state.run import (
    EarlyAnswer,
    Parent,
    Signal,
    Token,
    WaitingForGate,
    WaitingForSignal,
    WaitingForSubworkflow,
)


def call_workflow(draft: Draft, decision: CallWorkflow) -> None:
    """The token waits, and the child is told to begin: in one commit, so that neither is without the other."""
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
    """Whoever starts it twice starts it once: it is named by the token that waits for it."""
    head = draft.state.head
    given: Json = draft.state.input if isinstance(token.input, UnsetType) else token.input
    parent = Parent(head.run, token.id, head.root, head.depth + 1, call.inherit_artifacts)
    trigger = None if head.trigger is None else msgspec.structs.replace(head.trigger, node=None)
    account = None if head.purse is None else head.purse.account or head.run
    start = StartRun(call.since, given, call.workflow, parent, trigger, account=account)
    draft.effects.append(SendMessage(call.child, start))


def stop_child(draft: Draft, decision: StopChild) -> None:
    token = draft.token(decision.token)
    if not isinstance(token.phase, WaitingForSubworkflow) or token.phase.child != decision.child:
        raise BrokenInvariant("only a child that is waited for is stopped", token=token.id)
    draft.stop_child(decision.child, decision.reason)


def open_gate(draft: Draft, decision: OpenGate) -> None:
    token = draft.token(decision.token)
    draft.state.head.executions += 1
    phase = WaitingForGate(decision.at, decision.title, decision.deadline)
    draft.put_token(msgspec.structs.replace(token, phase=phase))
    if decision.deadline is not None:
        draft.timers.watch_token(decision.deadline, decision.at, token.id)


def take_answer(draft: Draft, decision: TakeAnswer) -> None:
    """Counted; whether it is enough follows in a decision of its own."""
    token = draft.token(decision.token)
    if not isinstance(token.phase, WaitingForGate):
        raise BrokenInvariant("a gate that is not open takes no answer", token=token.id)
    phase = msgspec.structs.replace(token.phase, answers=(*token.phase.answers, decision.answer))
    draft.put_token(msgspec.structs.replace(token, phase=phase))
    if decision.early is not None:
        draft.drop(draft.state.early, decision.early)
        draft.touched.rest.early.add(decision.early)


def keep_answer(draft: Draft, decision: KeepAnswer) -> None:
    head = draft.state.head
    if decision.number != head.next_early:
        raise BrokenInvariant("early answers are numbered in order", number=decision.number, next=head.next_early)
    head.next_early += 1
    draft.put(draft.state.early, decision.number, EarlyAnswer(decision.node, decision.path, decision.answer))
    draft.touched.rest.early.add(decision.number)


def wait_for_signal(draft: Draft, decision: WaitForSignal) -> None:
    token, head = draft.token(decision.token), draft.state.head
    head.executions += 1
    phase = WaitingForSignal(decision.at, decision.name, head.next_turn, decision.deadline, decision.label)
    head.next_turn += 1
    draft.put_token(msgspec.structs.replace(token, phase=phase))
    if decision.deadline is not None:
        draft.timers.watch_token(decision.deadline, decision.at, token.id)


def keep_signal(draft: Draft, decision: KeepSignal) -> None:
    head = draft.state.head
    if decision.number != head.next_signal:
        raise BrokenInvariant("signals are numbered in order", number=decision.number, next=head.next_signal)
    head.next_signal += 1
    draft.put(draft.state.signals.setdefault(decision.name, {}), decision.number, Signal(decision.value))
    draft.touched.rest.signals.add((decision.name, decision.number))
    if decision.key is not None:
        draft.put(draft.state.heard, decision.key, decision.at)
        draft.touched.rest.heard.add(decision.key)


def take_signal(draft: Draft, decision: TakeSignal) -> None:
    draft.drop(draft.state.signals.get(decision.name, {}), decision.number)
    draft.touched.rest.signals.add((decision.name, decision.number))


def set_paused(draft: Draft, decision: SetPaused) -> None:
    """The children too: a tree stands still as a whole."""
    draft.state.head.paused = decision.paused
    draft.timers.rebuild()
    for token in draft.state.tokens.values():
        if isinstance(token.phase, WaitingForSubworkflow):
            message = PauseRun(draft.now) if decision.paused else UnpauseRun(draft.now)
            draft.effects.append(SendMessage(token.phase.child, message))


def forget_waits(draft: Draft) -> None:
    """The run is over: what nobody took, nobody will."""
    state, touched = draft.state, draft.touched
    for name, kept in state.signals.items():
        touched.rest.signals.update((name, number) for number in kept)
        for number in list(kept):
            draft.drop(kept, number)
    touched.rest.early.update(state.early)
    for number in list(state.early):
        draft.drop(state.early, number)
    touched.rest.heard.update(state.heard)
    for key in list(state.heard):
        draft.drop(state.heard, key)
