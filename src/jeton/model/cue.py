"""Cues: what planning must look at, after a decision was folded and before the batch ends.

A cue is never stored, because it can be derived from the state again.
"""

from typing import TypeAlias

import msgspec

from jeton.model.ids import GroupId, SlotId, TokenId


class TokenReady(msgspec.Struct, frozen=True):
    """A pending token may begin."""

    token: TokenId


class SlotQuiet(msgspec.Struct, frozen=True):
    """Nothing is under way in a slot: it has arrived, left its group, or is lost."""

    slot: SlotId


class GroupChanged(msgspec.Struct, frozen=True):
    """A slot settled: a fan-in may open or fail, another slot may start, or the group may be over."""

    group: GroupId


class TimerDue(msgspec.Struct, frozen=True):
    """A timer is due: of a token, of a fan-in (`group` and `node`), or of the run (neither)."""

    token: TokenId | None = None
    group: GroupId | None = None
    node: str | None = None


class TurnMoved(msgspec.Struct, frozen=True):
    """Something of a turn changed: its next step may be due, or the next turn's time has come."""

    turn: int


Cue: TypeAlias = TokenReady | SlotQuiet | GroupChanged | TimerDue | TurnMoved
