"""The graph of a run after an entry: what is at each node, and how far each fan-out is."""

import msgspec

from jeton.engine.views.past.counts import GroupCounts, NodeCounts
from jeton.engine.views.past.fold import FoldedRun
from jeton.engine.views.past.needed import needed_in
from jeton.model.ids import GroupId


class GroupProgress(msgspec.Struct, frozen=True):
    """One fan-out. `needed`: how many arrivals open its fan-in; None if it leads to none, or data will say."""

    id: GroupId
    name: str
    node: str
    total: int
    arrived: int
    live: int
    lost: int
    needed: int | None


class RunGraph(msgspec.Struct, frozen=True):
    """A run's graph. `entry`: the last journal entry in it; `live`: it was the run's last one."""

    entry: int
    live: bool
    nodes: dict[str, NodeCounts]
    groups: tuple[GroupProgress, ...]


def graph_of(folded: FoldedRun, *, live: bool) -> RunGraph:
    """The graph of a folded run."""
    program, counted = folded.program, folded.tally.nodes
    names = program.flow.order if program.flow is not None else tuple(program.nodes)
    nodes = {name: msgspec.structs.replace(counted.get(name, NodeCounts())) for name in names}
    nodes.update({name: msgspec.structs.replace(counts) for name, counts in counted.items() if name not in nodes})
    groups = tuple(_progress(folded, counts) for _, counts in sorted(folded.tally.groups.items()))
    return RunGraph(folded.entry, live, nodes, groups)


def _progress(folded: FoldedRun, counts: GroupCounts) -> GroupProgress:
    over = counts.ended is not None
    needed = counts.needed if over else needed_in(folded.program, folded.state, counts.id)
    left = 0 if over else counts.total - counts.settled
    return GroupProgress(counts.id, counts.name, counts.node, counts.total, counts.arrived, left, counts.lost, needed)
