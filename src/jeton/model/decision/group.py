"""Decisions about fan-outs, branches and fan-ins."""

from typing import TypeAlias

import msgspec

from jeton.model.decision.base import DecisionBase
from jeton.model.ids import GroupId, SlotId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.state.ranges import Ranges
from jeton.model.state.run import Segment


class OpenGroup(DecisionBase, frozen=True, tag="open_group"):
    group: GroupId
    name: str
    node: str
    origin: TokenId
    path: str
    total: int
    segments: tuple[Segment, ...]
    outer: SlotId | None = None
    loops: dict[int, int] = {}
    error: JsonObject | None = None


class ParkToken(DecisionBase, frozen=True, tag="park_token"):
    """The token reached a fan-in of `group`, which it is in, directly or through inner slots."""

    token: TokenId
    group: GroupId
    node: str
    transition: int


class SettleSlot(DecisionBase, frozen=True, tag="settle_slot"):
    """Nothing is under way in the slot any more. `node`: it arrived there; `escaped`: its output goes outwards."""

    slot: SlotId
    at: int
    node: str | None = None
    transition: int | None = None
    deadline: int | None = None
    value: Json | msgspec.UnsetType = msgspec.UNSET
    escaped: JsonObject | None = None


class OpenFanIn(DecisionBase, frozen=True, tag="open_fan_in"):
    """Exactly once: these slots are taken, their tokens end completed."""

    group: GroupId
    node: str
    slots: Ranges = ()
    tokens: Ranges = ()


class MergeBranches(DecisionBase, frozen=True, tag="merge_branches"):
    """The branches' outputs, as one value, into the enclosing scope."""

    group: GroupId
    node: str
    target: str
    value: Json
    outer: SlotId | None = None


class TimeOutFanIn(DecisionBase, frozen=True, tag="time_out_fan_in"):
    group: GroupId
    node: str


class CloseGroup(DecisionBase, frozen=True, tag="close_group"):
    """Nothing of the group is left to wait for."""

    group: GroupId


GroupDecision: TypeAlias = OpenGroup | ParkToken | SettleSlot | OpenFanIn | MergeBranches | TimeOutFanIn | CloseGroup
