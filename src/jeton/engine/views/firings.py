"""Firings of triggers."""

from datetime import datetime

import msgspec

from jeton.actor.rows import FiringRow
from jeton.model.codes import RefusalCode
from jeton.model.ids import RunId
from jeton.model.times import moment


class FiringView(msgspec.Struct, frozen=True):
    """One delivery to a trigger: the run it started, or why it was refused (`code`, `problem`)."""

    trigger: str
    delivery_id: str
    type: str
    source: str | None
    depth: int
    at: datetime
    run_id: RunId | None = None
    code: RefusalCode | None = None
    problem: str | None = None


class Delivered(FiringView, frozen=True):
    """What a request of a webhook came to. `again`: it was delivered before, and this is what came of it then."""

    again: bool = False


def firing_view(row: FiringRow) -> FiringView:
    at = moment(row.at)
    return FiringView(row.trigger, row.delivery, row.type, row.source, row.depth, at, row.run, row.code, row.problem)
