"""One batch of messages an actor handled, with its decisions, as kept in the journal."""

import msgspec

from jeton.model.decision import Decision
from jeton.model.message import Message


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """Events and tokens are expansions of entries; `first_event` is where this one's sequence begins."""

    number: int
    first_event: int
    messages: tuple[Message, ...]
    decisions: tuple[Decision, ...]

    @property
    def at(self) -> int:
        """When its last message was stamped."""
        return self.messages[-1].at
