"""What an answer or a signal came to."""

import msgspec

from jeton.actor.replies import ReplyOutcome
from jeton.engine.views.record import RunRecord
from jeton.model.ids import RunId


class Reply(msgspec.Struct, frozen=True):
    """The result of an answer or a signal. `run_id` is the run that took it; `record` is of the run that was named."""

    run_id: RunId
    outcome: ReplyOutcome
    record: RunRecord
