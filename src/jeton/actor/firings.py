"""Firings: the deliveries that runs cause, and the rows and messages that a delivery leads to.

A host stores a firing in one transaction: its row, and the messages that follow from it. The same delivery finds the
row of the first and starts nothing.
"""

import msgspec

from jeton.actor.rows import FiringRow, RunRow
from jeton.executor.event_sink import ActionEvent
from jeton.model.definition.trigger import Trigger
from jeton.model.effect import SendMessage
from jeton.model.ids import RunId
from jeton.model.json import Json
from jeton.model.message import StartRun, TriggerHeard
from jeton.model.reference import name_of
from jeton.planning.triggers.firing import Delivery, Planned, Refusal, firing_depth


def by_event(emitted: ActionEvent, publisher: RunRow | None, at: int) -> Delivery:
    """The delivery of a published event. Its id is the event's: the call that published it may be repeated."""
    return Delivery(emitted.id, "event", at, emitted.data, emitted.run, _depth(publisher))


def by_end(row: RunRow, at: int) -> Delivery:
    """The delivery of a run's end. Its id is the run's, because a run ends once."""
    error: Json = None if row.error is None else msgspec.to_builtins(row.error)
    brings: Json = {
        "run_id": row.run,
        "workflow": row.workflow,
        "status": row.status,
        "output": row.output,
        "error": error,
    }
    return Delivery(row.run, "run_finished", at, brings, row.run, _depth(row))


class SettledFiring(msgspec.Struct, frozen=True):
    """The row of a delivery, and the messages to store with it. Not `new`: it was delivered before.

    The message to the run that caused it is not stored if that run has ended."""

    row: FiringRow
    new: bool
    start: SendMessage | None = None
    to_cause: SendMessage | None = None


def settle_firing(planned: Planned, known: FiringRow | None, disabled: bool, run: RunId) -> SettledFiring:
    """The firing of one delivery. `known` is the row of the same delivery, if any; `run` names the run to start.

    A delivery that was refused before may be tried again; one that started a run starts no other."""
    if known is not None and known.run is not None:
        return SettledFiring(msgspec.structs.replace(known, again=True), new=False)
    trigger, delivery, firing = planned.trigger, planned.delivery, planned.firing
    if disabled:
        workflow = started_workflow(trigger)
        firing = Refusal("disabled", f"'{workflow}' is disabled, and no trigger starts it", "enable it")
    facts = (trigger.name, delivery.id, delivery.type, delivery.source, firing_depth(delivery), delivery.at)
    if isinstance(firing, StartRun):
        row, start = FiringRow(*facts, run, None, None), SendMessage(run, firing)
    else:
        row, start = FiringRow(*facts, None, firing.code, firing.problem), None
    to_cause = None
    if row.type == "event" and row.source is not None:  # a run gets no message about its own end
        message = TriggerHeard(row.at, row.trigger, row.depth, row.run, row.code, row.problem)
        to_cause = SendMessage(RunId(row.source), message)
    return SettledFiring(row, True, start, to_cause)


def started_workflow(trigger: Trigger) -> str:
    """The name of what a trigger starts, without a version."""
    return name_of(trigger.start)


def _depth(row: RunRow | None) -> int:
    return 0 if row is None or row.trigger is None else row.trigger.depth
