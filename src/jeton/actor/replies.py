"""Messages that a run replies to. The reply is a decision in its journal, found by the message's id."""

import asyncio
from typing import Literal, TypeAlias

from jeton.actor.host import Host
from jeton.actor.starts import unknown_run
from jeton.executor.signals import SentSignal
from jeton.model.codes import RefusalCode
from jeton.model.decision import KeepAnswer, KeepSignal, ReplyTo, TakeAnswer, TakeSignal
from jeton.model.entry import Entry
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.message import AnswerGate, SignalRun
from jeton.model.state.run import TERMINAL
from jeton.planning.waits.gate import CLOSED

ANSWER_WITHIN_S = 10.0
LOOK_AGAIN_S = 0.05

ReplyOutcome: TypeAlias = Literal["taken", "kept", "heard_before", "sent"]
"""A token took it; it is kept until one does; its key was known; it is in the inbox until there is an owner."""


def ended(run: str, status: str) -> Refused:
    """The refusal of a message to a run that has ended."""
    return Refused("run_ended", f"run {run} has ended: it is {status}", "nothing can be changed about it any more")


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


def refusal(reply: ReplyTo, message: AnswerGate | SignalRun) -> Refused:
    """The refusal in a reply."""
    if reply.code is not None:
        return Refused(reply.code, reply.why, reply.remedy)
    if reply.why == CLOSED:
        return Refused("gate_closed", reply.why, "list the gates that are open")
    code: RefusalCode = "answer_refused" if isinstance(message, AnswerGate) else "signal_refused"
    return Refused(code, reply.why, "send one that fits")


def _outcome(entry: Entry, message: AnswerGate | SignalRun) -> ReplyOutcome | None:
    """The reply to the message in an entry. The decision right before the reply says what was done with it."""
    for index, decision in enumerate(entry.decisions):
        if not isinstance(decision, ReplyTo) or decision.id != message.id:
            continue
        if not decision.accepted:
            raise refusal(decision, message)
        match entry.decisions[index - 1] if index else None:
            case TakeAnswer() | TakeSignal():
                return "taken"
            case KeepAnswer() | KeepSignal():
                return "kept"
            case _:
                return "heard_before"
    return None


class HostSignals:
    """Signals that actions send to runs of the same store. Fulfils `jeton.executor.signals.Signals`."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def send(self, sent: SentSignal) -> None:
        """Send a signal. One whose key the run has heard changes nothing, also after the run has ended."""
        host = self._host
        if await host.reads.row(sent.run) is None:
            raise unknown_run(sent.run)
        message = SignalRun(host.now(), host.new_id(), sent.name, sent.value, sent.key)
        try:
            await ask(host, sent.run, message)
        except Refused as refused:
            if refused.code == "store_closed":
                await asyncio.Future[
                    None
                ]()  # the task is stopped with its host, and the next owner makes the call again
            # a run forgets its keys when it ends, and a call that a crash cut off is made again
            if refused.code != "run_ended" or not heard(await host.reads.entries(sent.run), sent.key):
                raise


def heard(entries: list[Entry], key: str) -> bool:
    """Whether a run has heard a signal with this key."""
    return any(isinstance(each, KeepSignal) and each.key == key for entry in entries for each in entry.decisions)
