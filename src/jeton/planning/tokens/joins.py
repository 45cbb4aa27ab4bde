"""Which fan-ins a group leads to, given the groups around it.

Needed for joins that no slot reached: an empty fan-out, or all branches lost. The same fan-out can lead to different
joins, depending on the groups around it, so the walk begins at the group. Conditions are unknown here, so every
transition counts as possible.
"""

from collections import Counter, deque
from collections.abc import Iterator

from jeton.model.state.lineage import MAX_STACKS, Join
from jeton.model.state.run import Group, RunState
from jeton.planning.program.workflow import CompiledNode, CompiledTransition, JoinsKey, Program


def joins_of(program: Program, state: RunState, group: Group) -> tuple[Join, ...]:
    """The fan-ins the group leads to, nearest first."""
    key: JoinsKey = (tuple(s.transition for s in group.segments), group.name, _names_around(state, group))
    found = program.joins.get(key)
    if found is None:
        found = program.joins[key] = _walk(program, *key)
    return found


def tolerates_lost_branch(program: Program, state: RunState, group: Group) -> bool:
    """Whether a failed branch is lost instead of failing the run."""
    return any(j.synchronization.on_branch_failure == "continue" for j in joins_of(program, state, group))


def _names_around(state: RunState, group: Group) -> tuple[str, ...]:
    names: tuple[str, ...] = ()
    while group.outer is not None:
        group = state.groups[group.outer[0]]
        names = (group.name, *names)
    return names


def _walk(program: Program, made_by: tuple[int, ...], name: str, around: tuple[str, ...]) -> tuple[Join, ...]:
    """Breadth-first search over pairs of a node and the groups entered on the way to it."""
    own = len(around)
    joins: dict[str, Join] = {}
    seen: set[tuple[str, tuple[str, ...]]] = set()
    visits: Counter[str] = Counter()
    steps: deque[tuple[CompiledTransition, tuple[str, ...]]] = deque(
        (program.transitions[index], ()) for index in made_by
    )
    while steps:
        transition, inner = steps.popleft()
        if transition.synchronization is not None:
            depth = _joined_depth((*around, name, *inner), transition.synchronization.sibling_group)
            if depth == own:
                joins.setdefault(
                    transition.target, Join(transition.target, transition.index, transition.synchronization)
                )
            if depth is not None and depth <= own:
                continue  # joined here, or outside this group
            inner = inner if depth is None else inner[: depth - own - 1]
        if (transition.target, inner) not in seen and visits[transition.target] < MAX_STACKS:
            visits[transition.target] += 1
            seen.add((transition.target, inner))
            node = program.nodes[transition.target]
            steps.extend((onward, entered) for tier in node.tiers for onward, entered in _onward(node, tier, inner))
    return tuple(joins.values())


def _joined_depth(names: tuple[str, ...], wanted: str | None) -> int | None:
    for depth in range(len(names) - 1, -1, -1):
        if wanted is None or names[depth] == wanted:
            return depth
    return None


def _onward(
    node: CompiledNode, tier: tuple[CompiledTransition, ...], inner: tuple[str, ...]
) -> Iterator[tuple[CompiledTransition, tuple[str, ...]]]:
    """Each transition of a tier with the groups that a token can be in after it: the same, or one more."""
    for transition in tier:
        name = transition.group or node.name
        # handlers are followed only by a failure, and others only by a success
        rivals = [
            w
            for w in tier
            if w is not transition and w.group is None and w.handles_failure == transition.handles_failure
        ]
        plain = node.definition.fan_out == "first_match" or not rivals
        if not transition.makes_slots and (
            plain or not any(w.condition is None and w.max_iterations is None for w in rivals)
        ):
            yield transition, inner
        if (transition.makes_slots or not plain) and name not in inner:  # a fan-out inside itself leads to no new join
            yield transition, (*inner, name)
