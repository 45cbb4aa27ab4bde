"""Journal entries: the messages of one batch, with the decisions they led to."""

import msgspec

from jeton.model.decision import Decision
from jeton.model.message import Message


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One entry of a run's journal. Events are derived from it; `first_event` is the number of its first."""

    number: int
    first_event: int
    messages: tuple[Message, ...]
    decisions: tuple[Decision, ...]

    @property
    def at(self) -> int:
        """The time of its last message."""
        return self.messages[-1].at
