"""Which fan-ins a group leads to, seen from where it stands.

Planning needs this for the joins no slot ever reached: an empty fan-out, every branch lost. The same fan-out can lead
to different joins, depending on the groups around it, so the walk begins at the group itself and knows those. What a
condition will say is unknown, so every transition counts as possible.
"""

from collections import Counter, deque
from collections.abc import Iterator

from jeton.model.state.lineage import MAX_STACKS, Join
from jeton.model.state.run import Group, RunState
from jeton.planning.program.workflow import JoinsKey, Place, Program, Way


def joins_of(program: Program, state: RunState, group: Group) -> tuple[Join, ...]:
    """The fan-ins the group leads to, nearest first."""
    key: JoinsKey = (tuple(s.transition for s in group.segments), group.name, _names_around(state, group))
    found = program.joins.get(key)
    if found is None:
        found = program.joins[key] = _walk(program, *key)
    return found


def continues(program: Program, state: RunState, group: Group) -> bool:
    """Whether a failed branch is lost instead of failing the run."""
    return any(j.synchronization.on_branch_failure == "continue" for j in joins_of(program, state, group))


def _names_around(state: RunState, group: Group) -> tuple[str, ...]:
    names: tuple[str, ...] = ()
    while group.outer is not None:
        group = state.groups[group.outer[0]]
        names = (group.name, *names)
    return names


def _walk(program: Program, made_by: tuple[int, ...], name: str, around: tuple[str, ...]) -> tuple[Join, ...]:
    """Breadth first over (node, names of the groups entered on the way)."""
    own = len(around)
    joins: dict[str, Join] = {}
    seen: set[tuple[str, tuple[str, ...]]] = set()
    visits: Counter[str] = Counter()
    steps: deque[tuple[Way, tuple[str, ...]]] = deque((program.ways[index], ()) for index in made_by)
    while steps:
        way, inner = steps.popleft()
        if way.synchronization is not None:
            depth = _joined_depth((*around, name, *inner), way.synchronization.sibling_group)
            if depth == own:
                joins.setdefault(way.target, Join(way.target, way.index, way.synchronization))
            if depth is not None and depth <= own:
                continue  # it is joined here, or leaves this group outwards
            inner = inner if depth is None else inner[: depth - own - 1]
        if (way.target, inner) not in seen and visits[way.target] < MAX_STACKS:
            visits[way.target] += 1
            seen.add((way.target, inner))
            place = program.places[way.target]
            steps.extend((onward, entered) for tier in place.tiers for onward, entered in _onward(place, tier, inner))
    return tuple(joins.values())


def _joined_depth(names: tuple[str, ...], wanted: str | None) -> int | None:
    for depth in range(len(names) - 1, -1, -1):
        if wanted is None or names[depth] == wanted:
            return depth
    return None


def _onward(place: Place, tier: tuple[Way, ...], inner: tuple[str, ...]) -> Iterator[tuple[Way, tuple[str, ...]]]:
    """Each way of the tier with the groups a token is in after it: one more, the same, or either."""
    for way in tier:
        name = way.group or place.name
        # a failure is routed over its handlers alone, and a success never over one
        rivals = [w for w in tier if w is not way and w.group is None and w.handles_failure == way.handles_failure]
        plain = place.node.fan_out == "first_match" or not rivals
        if not way.makes_slots and (plain or not any(w.condition is None and w.max_iterations is None for w in rivals)):
            yield way, inner
        if (way.makes_slots or not plain) and name not in inner:  # a fan-out inside itself leads nowhere new
            yield way, (*inner, name)
