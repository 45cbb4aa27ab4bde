"""A fan-in opens at most once, only when its rule is met, with every slot that arrived, merged in index order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET, UnsetType

from jeton.model.decision import CloseGroup, Decision, MergeBranches, OpenFanIn, OpenGroup, SettleSlot, TimeOutFanIn
from jeton.model.ids import GroupId
from jeton.model.json import Json
from jeton.model.ranges import numbers_in
from jeton.model.workflow import MOfN, Synchronization
from jeton.planning.program import Program

if TYPE_CHECKING:
    from tests.simulation.invariants import Seen

NOTHING_ARRIVED = ([], {}, None)


class _Group:
    """A group as the journal tells it."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.settled: set[int] = set()
        self.arrived: dict[str, dict[int, Json | UnsetType]] = {}
        self.joins: dict[str, Synchronization] = {}
        self.opened: dict[str, dict[int, Json | UnsetType]] = {}
        self.timed_out: set[str] = set()


class FanIns:
    """Every group that is not closed."""

    def __init__(self) -> None:
        self._groups: dict[GroupId, _Group] = {}

    def take(self, seen: Seen) -> str | None:
        """What is wrong after this commit, if anything is."""
        for decision in seen.entry.decisions:
            problem = self._follow(seen.program, decision)
            if problem is not None:
                return f"{problem}: {decision}"
        state = seen.run.state
        for group in [group for group in self._groups if group not in state.groups]:
            del self._groups[group]
        return next(filter(None, (self._waits_for_somebody(seen, d) for d in seen.entry.decisions)), None)

    def _follow(self, program: Program, decision: Decision) -> str | None:
        match decision:
            case OpenGroup(group_id, total=total):
                self._groups[group_id] = _Group(total)
            case SettleSlot():
                return self._settle(program, decision)
            case TimeOutFanIn(group_id, node):
                self._groups[group_id].timed_out.add(node)
            case OpenFanIn():
                return self._open(decision)
            case MergeBranches():
                return self._merge(decision)
            case CloseGroup(group_id):
                del self._groups[group_id]
            case _:
                pass
        return None

    def _settle(self, program: Program, decision: SettleSlot) -> str | None:
        group_id, index = decision.slot
        group = self._groups[group_id]
        if index in group.settled:
            return "a slot settles twice"
        group.settled.add(index)
        if decision.node is not None and decision.transition is not None:
            sync = program.ways[decision.transition].synchronization
            if sync is None:
                return "a slot arrives over a transition that joins nothing"
            group.joins.setdefault(decision.node, sync)
            group.arrived.setdefault(decision.node, {})[index] = decision.value
        return None

    def _open(self, decision: OpenFanIn) -> str | None:
        group = self._groups[decision.group]
        if decision.node in group.opened:
            return "a fan-in opens twice"
        arrived = group.opened[decision.node] = group.arrived.pop(decision.node, {})
        if list(numbers_in(decision.slots)) != sorted(arrived):
            return f"a fan-in opens with other slots than {sorted(arrived)}"
        if not arrived or decision.node in group.timed_out:
            return None if len(group.settled) == group.total or arrived else "a fan-in opens for nobody"
        match group.joins[decision.node].strategy:
            case "all":
                met = len(group.settled) == group.total
            case "any":
                met = True
            case MOfN(needed):
                met = len(arrived) >= needed
        return None if met else f"a fan-in opens too early, with {len(group.settled)} of {group.total} settled"

    def _merge(self, decision: MergeBranches) -> str | None:
        group = self._groups[decision.group]
        arrived = group.opened[decision.node]
        if not arrived:
            return None if decision.value in NOTHING_ARRIVED else "nothing arrived, and something is merged"
        rule = group.joins[decision.node].merge
        if rule is None:
            return "a merge nobody asked for"
        expected = in_index_order(rule.strategy, [arrived[index] for index in sorted(arrived)], sorted(arrived))
        return None if decision.value == expected else f"merged out of order, expected {expected}"

    def _waits_for_somebody(self, seen: Seen, decision: Decision) -> str | None:
        """Whoever waits at a fan-in waits for a slot that is live."""
        if not isinstance(decision, SettleSlot):
            return None
        progress = seen.run.state.progress.get(decision.slot[0])
        if progress is not None and progress.fan_ins and not progress.live:
            return f"slots wait at {list(progress.fan_ins)} and none is live: {decision}"
        return None


def in_index_order(strategy: str, values: list[Json | UnsetType], indices: list[int]) -> Any:
    """The merge, written once more: as plainly as possible."""
    plain = [None if value is UNSET else value for value in values]
    match strategy:
        case "append" if all(isinstance(value, list) for value in plain):
            return [item for value in plain if isinstance(value, list) for item in value]
        case "append" | "collect":
            return plain
        case "merge_object":
            return {key: item for value in plain if isinstance(value, dict) for key, item in value.items()}
        case "keyed_by_branch":
            return {str(index): value for index, value in zip(indices, plain, strict=True)}
        case _:
            return plain[-1]
