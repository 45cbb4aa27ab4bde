"""Facts about fan-outs, branches and fan-ins."""

from typing import TypeAlias

from jeton.model.event.base import FactBase
from jeton.model.ids import GroupId


class FanOutStarted(FactBase, frozen=True, tag="fan_out.started"):
    """One routing made several branches."""

    group: GroupId
    name: str
    node: str
    total: int


class FanInOpened(FactBase, frozen=True, tag="fan_in.opened"):
    """A fan-in opened, with `arrived` branches."""

    group: GroupId
    node: str
    arrived: int


class BranchesMerged(FactBase, frozen=True, tag="branches.merged"):
    """The outputs of the branches were written to `target`."""

    group: GroupId
    node: str
    target: str


class SyncTimedOut(FactBase, frozen=True, tag="sync.timed_out"):
    """The time of a fan-in was over before it opened."""

    group: GroupId
    node: str


GroupFact: TypeAlias = FanOutStarted | FanInOpened | BranchesMerged | SyncTimedOut
