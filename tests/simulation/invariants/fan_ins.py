"""A fan-in opens at most once, only when its rule is met, with every slot that arrived, merged in index order."""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from jeton.model.decision import CloseGroup, Decision, MergeBranches, OpenFanIn, OpenGroup, SettleSlot, TimeOutFanIn
from jeton.model.definition.workflow import MOfN, Synchronization
from jeton.model.ids import GroupId
from jeton.model.json import Json
from jeton.model.state.ranges import numbers_in
from jeton.planning.program.workflow import Program
from tests.simulation.invariants.seen import Seen, broken, named_in

NOTHING_ARRIVED: tuple[Json, ...] = ([], {}, None)


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

    def committed(self, seen: Seen) -> None:
        followed = [decision for decision in seen.entry.decisions if type(decision) in self._followed]
        for decision in followed:
            self._follow(seen.program, decision)
        for decision in followed:
            if isinstance(decision, SettleSlot):
                self._waits_for_somebody(seen, decision)
        for group in [group for group in self._groups if group not in seen.run.state.groups]:
            del self._groups[group]  # it went with the slot around it

    def _follow(self, program: Program, decision: Decision) -> None:
        match decision:
            case OpenGroup(group, total=total):
                self._groups[group] = _Group(total)
            case SettleSlot():
                self._settle(program, decision)
            case TimeOutFanIn(group, node):
                self._groups[group].timed_out.add(node)
            case OpenFanIn():
                self._open(decision)
            case MergeBranches():
                self._merge(decision)
            case CloseGroup(group):
                del self._groups[group]
            case _:
                pass

    def _settle(self, program: Program, decision: SettleSlot) -> None:
        group, index = self._groups[decision.slot[0]], decision.slot[1]
        if index in group.settled:
            broken(f"a slot settles twice: {decision}")
        group.settled.add(index)
        if decision.node is not None and decision.transition is not None:
            sync = program.transitions[decision.transition].synchronization
            assert sync is not None, "a slot arrives over a transition that synchronizes"
            if decision.needed is not None:
                if decision.node in group.joins:
                    broken(f"a quorum is evaluated again: {decision}")
                sync = msgspec.structs.replace(sync, strategy=MOfN(decision.needed))
            group.joins.setdefault(decision.node, sync)
            group.arrived.setdefault(decision.node, {})[index] = decision.value

    def _open(self, decision: OpenFanIn) -> None:
        group, node = self._groups[decision.group], decision.node
        if node in group.opened:
            broken(f"a fan-in opens twice: {decision}")
        arrived = group.opened[node] = group.arrived.pop(node, {})
        if list(numbers_in(decision.slots)) != sorted(arrived):
            broken(f"a fan-in opens with other slots than {sorted(arrived)}: {decision}")
        all_settled = len(group.settled) == group.total or len(group.opened) > 1  # the first stopped whoever was live
        if not arrived:
            met = all_settled
        elif node in group.timed_out:
            met = group.joins[node].on_timeout == "proceed_with_available"
        else:
            strategy = group.joins[node].strategy
            needed = strategy.m_of_n if isinstance(strategy, MOfN) else 1
            assert isinstance(needed, int), "the first arrival has the quorum"
            met = all_settled if strategy == "all" else len(arrived) >= needed
        if not met:
            broken(f"a fan-in opens and its rule is not met, {len(group.settled)} of {group.total}: {decision}")

    def _merge(self, decision: MergeBranches) -> None:
        group = self._groups[decision.group]
        arrived = group.opened[decision.node]
        if not arrived:
            if decision.value not in NOTHING_ARRIVED:
                broken(f"nothing arrived, and something is merged: {decision}")
            return
        rule = group.joins[decision.node].merge
        assert rule is not None, "a merge is asked for where it happens"
        expected = in_index_order(rule.strategy, arrived)
        if decision.value != expected:
            broken(f"not merged in index order, which gives {expected}: {decision}")

    def _waits_for_somebody(self, seen: Seen, decision: SettleSlot) -> None:
        """Whoever waits at a fan-in waits for a slot that is live."""
        progress = seen.run.state.progress.get(decision.slot[0])
        if progress is not None and progress.fan_ins and not progress.live:
            broken(f"slots wait at {list(progress.fan_ins)} and none is live: {decision}")

    _followed = named_in(_follow)


def in_index_order(strategy: str, arrived: dict[int, Json | UnsetType]) -> Any:
    """The merge, written once more, as plainly as possible."""
    values = {index: None if arrived[index] is UNSET else arrived[index] for index in sorted(arrived)}
    plain = list(values.values())
    match strategy:
        case "append" if all(isinstance(value, list) for value in plain):
            return [item for value in plain if isinstance(value, list) for item in value]
        case "append" | "collect":
            return plain
        case "merge_object":
            return {key: item for value in plain if isinstance(value, dict) for key, item in value.items()}
        case "keyed_by_branch":
            return {str(index): value for index, value in values.items()}
        case _:
            return plain[-1]
