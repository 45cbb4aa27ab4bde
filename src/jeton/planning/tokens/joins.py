"""Which fan-ins a group leads to, seen from where it stands.

Planning needs this for the joins no slot ever reached: an empty fan-out, every branch lost. The same fan-out can lead
to different joins, depending on the groups around it, so the walk begins at the group itself and knows those. What a
condition will say is unknown, so every transition counts as possible.
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
    """Breadth first over (node, names of the groups entered on the way)."""
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
                continue  # it is joined here, or leaves this group outwards
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
    """Each way of the tier with the groups a token is in after it: one more, the same, or either."""
    for transition in tier:
        name = transition.group or node.name
        # a failure is routed over its handlers alone, and a success never over one
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
        if (transition.makes_slots or not plain) and name not in inner:  # a fan-out inside itself leads nowhere new
            yield transition, (*inner, name)
