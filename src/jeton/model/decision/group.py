"""Decisions about fan-outs, branches and fan-ins."""

from typing import TypeAlias

import msgspec

from jeton.model.decision.base import DecisionBase
from jeton.model.ids import GroupId, SlotId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.state.ranges import Ranges
from jeton.model.state.run import Segment


class OpenGroup(DecisionBase, frozen=True, tag="open_group"):
    """Begin a fan-out: a group of `total` slots, made by the token `origin`."""

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
    """The token reached a fan-in of `group`, an enclosing group."""

    token: TokenId
    group: GroupId
    node: str
    transition: int


class SettleSlot(DecisionBase, frozen=True, tag="settle_slot"):
    """Nothing is under way in the slot. `node`: it arrived there; `escaped`: the output it takes out of its group."""

    slot: SlotId
    at: int
    node: str | None = None
    transition: int | None = None
    deadline: int | None = None
    value: Json | msgspec.UnsetType = msgspec.UNSET
    escaped: JsonObject | None = None
    needed: int | None = None  # the quorum, evaluated at the first arrival


class OpenFanIn(DecisionBase, frozen=True, tag="open_fan_in"):
    """Open a fan-in, exactly once. The tokens of the slots that arrived end as completed."""

    group: GroupId
    node: str
    slots: Ranges = ()
    tokens: Ranges = ()


class MergeBranches(DecisionBase, frozen=True, tag="merge_branches"):
    """Write the merged outputs of the branches into the enclosing scope."""

    group: GroupId
    node: str
    target: str
    value: Json
    outer: SlotId | None = None


class TimeOutFanIn(DecisionBase, frozen=True, tag="time_out_fan_in"):
    """The time of a fan-in is over; its `on_timeout` says what follows."""

    group: GroupId
    node: str


class CloseGroup(DecisionBase, frozen=True, tag="close_group"):
    """The group is over."""

    group: GroupId


GroupDecision: TypeAlias = OpenGroup | ParkToken | SettleSlot | OpenFanIn | MergeBranches | TimeOutFanIn | CloseGroup
