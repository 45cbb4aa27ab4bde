"""What folding a decision leaves for planning to look at before the batch ends.

A cue never outlives its batch: each can be read off the state again, which is why none is stored.
"""

from typing import TypeAlias

import msgspec

from jeton.model.ids import GroupId, SlotId, TokenId


class TokenReady(msgspec.Struct, frozen=True):
    """A pending token may begin."""

    token: TokenId


class SlotQuiet(msgspec.Struct, frozen=True):
    """Nothing is under way in a slot any more: it has arrived, escaped, or is lost."""

    slot: SlotId


class GroupChanged(msgspec.Struct, frozen=True):
    """A slot settled: a fan-in may open or fail, a further slot may start, the group may be over."""

    group: GroupId


class TimerDue(msgspec.Struct, frozen=True):
    """A time that somebody waits for has come: a token, a fan-in (its group and node), or the run (neither)."""

    token: TokenId | None = None
    group: GroupId | None = None
    node: str | None = None


Cue: TypeAlias = TokenReady | SlotQuiet | GroupChanged | TimerDue
