"""Messages that a run replies to. The reply is a decision in its journal, found by the message's id."""

import asyncio
from difflib import get_close_matches
from typing import Literal, TypeAlias

import msgspec

from jeton.actor.host import Host
from jeton.engine.views.record import RunRecord
from jeton.model.codes import RefusalCode
from jeton.model.decision import KeepAnswer, KeepSignal, ReplyTo, TakeAnswer, TakeSignal
from jeton.model.definition.workflow import WaitTarget
from jeton.model.entry import Entry
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.message import AnswerGate, SignalRun
from jeton.model.state.run import TERMINAL
from jeton.planning.program.workflow import Program
from jeton.planning.waits.gate import CLOSED

ANSWER_WITHIN_S = 10.0
LOOK_AGAIN_S = 0.05

ReplyOutcome: TypeAlias = Literal["taken", "kept", "heard_before", "sent"]
"""A token took it; it is kept until one does; its key was known; it is in the inbox until there is an owner."""


class Reply(msgspec.Struct, frozen=True):
    """The result of an answer or a signal. `run_id` is the run that took it; `record` is of the run that was named."""

    run_id: RunId
    outcome: ReplyOutcome
    record: RunRecord


def ended(run: str, status: str) -> Refused:
    """The refusal of a message to a run that has ended."""
    return Refused("run_ended", f"run {run} has ended: it is {status}", "nothing can be changed about it any more")


def check_signal(program: Program, name: str) -> None:
    """Raise Refused if no node of the workflow waits for a signal of this name: nobody would ever take it."""
    targets = (node.definition.target for node in program.nodes.values())
    known = [target.signal for target in targets if isinstance(target, WaitTarget) and target.signal is not None]
    if name in known:
        return
    workflow = program.workflow.name
    if not known:
        problem = f"'{workflow}' waits for no signals, and '{name}' would never be taken"
        raise Refused("signal_refused", problem, "check the run, or answer its gate")
    nearest = get_close_matches(name, known, n=1)
    remedy = f"write '{nearest[0]}'" if nearest else f"it waits for: {', '.join(dict.fromkeys(known))}"
    raise Refused("signal_refused", f"no node of '{workflow}' waits for a signal '{name}'", remedy)


async def ask(host: Host, run: RunId, message: AnswerGate | SignalRun) -> ReplyOutcome:
    """Deliver a message and return the run's reply. Raises Refused if the run refuses it.

    The owner has the reply when the message is delivered. Other processes wait for it; if the owner does not answer in
    time, the message is left for the next owner."""
    row = await host.reads.row(run)
    if row is None or row.status in TERMINAL:
        raise ended(run, "gone" if row is None else row.status)
    await host.deliver(run, message)
    last, deadline = row.entries - 1, asyncio.get_running_loop().time() + ANSWER_WITHIN_S
    while True:
        row = await host.reads.row(run)  # before the entries, which are complete if the run has ended
        for entry in await host.reads.entries(run, last):
            last = entry.number
            outcome = _outcome(entry, message)
            if outcome is not None:
                return outcome
        if row is None or row.status in TERMINAL:
            raise ended(run, "gone" if row is None else row.status)
        if asyncio.get_running_loop().time() >= deadline:
            return "sent"
        await asyncio.sleep(LOOK_AGAIN_S)


def _outcome(entry: Entry, message: AnswerGate | SignalRun) -> ReplyOutcome | None:
    """The reply to the message in an entry. The decision right before the reply says what was done with it."""
    for index, decision in enumerate(entry.decisions):
        if not isinstance(decision, ReplyTo) or decision.id != message.id:
            continue
        if not decision.accepted:
            raise _refusal(decision.why, message)
        match entry.decisions[index - 1] if index else None:
            case TakeAnswer() | TakeSignal():
                return "taken"
            case KeepAnswer() | KeepSignal():
                return "kept"
            case _:
                return "heard_before"
    return None


def _refusal(why: str, message: AnswerGate | SignalRun) -> Refused:
    if why == CLOSED:
        return Refused("gate_closed", why, "list the gates that are open")
    code: RefusalCode = "answer_refused" if isinstance(message, AnswerGate) else "signal_refused"
    return Refused(code, why, "send one that fits")
