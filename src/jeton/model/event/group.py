"""Facts about fan-outs, branches and fan-ins."""

from typing import TypeAlias

from jeton.model.event.base import FactBase
from jeton.model.ids import GroupId


class FanOutStarted(FactBase, frozen=True, tag="fan_out.started"):
    group: GroupId
    name: str
    node: str
    total: int


class FanInOpened(FactBase, frozen=True, tag="fan_in.opened"):
    group: GroupId
    node: str
    arrived: int


class BranchesMerged(FactBase, frozen=True, tag="branches.merged"):
    group: GroupId
    node: str
    target: str


class SyncTimedOut(FactBase, frozen=True, tag="sync.timed_out"):
    group: GroupId
    node: str


GroupFact: TypeAlias = FanOutStarted | FanInOpened | BranchesMerged | SyncTimedOut
