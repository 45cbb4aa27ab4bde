"""What runs give triggers cause to fire for, and what they hear of it.

An event and an end are deliveries like any other. That a run is told what became of its event is for it to record; of
its end it hears nothing, since nothing is after that.
"""

import msgspec

from jeton.actor.rows import FiringRow, RunRow
from jeton.executor.event_sink import ActionEvent
from jeton.model.ids import RunId
from jeton.model.json import Json
from jeton.model.message import TriggerHeard
from jeton.planning.triggers.firing import Delivery, Planned, Refusal, firing_depth


def by_event(emitted: ActionEvent, publisher: RunRow | None, at: int) -> Delivery:
    """The event is its own delivery id: the call that published it may be made again, and means the same one."""
    return Delivery(emitted.id, "event", at, emitted.data, emitted.run, _depth(publisher))


def by_end(row: RunRow, at: int) -> Delivery:
    """A run ends once, so its id is the delivery's."""
    error: Json = None if row.error is None else msgspec.to_builtins(row.error)
    brings: Json = {
        "run_id": row.run,
        "workflow": row.workflow,
        "status": row.status,
        "output": row.output,
        "error": error,
    }
    return Delivery(row.run, "run_finished", at, brings, row.run, _depth(row))


def row_of(planned: Planned, run: RunId) -> FiringRow:
    """What becomes of a delivery; `run` is the one that it starts, if it starts one."""
    made, firing = planned.delivery, planned.firing
    facts = (planned.trigger.name, made.id, made.type, made.source, firing_depth(made), made.at)
    if isinstance(firing, Refusal):
        return FiringRow(*facts, None, firing.code, firing.problem)
    return FiringRow(*facts, run, None, None)


def word_to_cause(row: FiringRow) -> TriggerHeard | None:
    """What the run is told whose event it was; None if it was no event."""
    if row.type != "event":
        return None
    return TriggerHeard(row.at, row.trigger, row.depth, row.run, row.code, row.problem)


def _depth(row: RunRow | None) -> int:
    return 0 if row is None or row.trigger is None else row.trigger.depth
