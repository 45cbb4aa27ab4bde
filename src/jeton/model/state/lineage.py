"""Which groups a token can be in at each node, and which joins each fan-out leads to, from the graph alone.

Checks of definitions use it to find joins that can never open. It walks pairs of a node and the stack of enclosing
fan-outs. Conditions are unknown here, so every transition counts as possible.
"""

from collections import Counter, deque

import msgspec

from jeton.model.definition.workflow import Synchronization, Transition, Workflow

MAX_NESTING = 12
MAX_STACKS = 256  # per node: splits that may or may not happen, one after another, would double them each time
MAX_WALKED = 256 * 2000  # transitions, each with every stack of its source; workflows with more have fewer stacks
MIN_STACKS = 8
MAX_REPEATS = 2  # a fan-out inside its own branch: two levels show every join that more would


class FanOut(msgspec.Struct, frozen=True):
    """A fan-out: the node whose routing creates groups, and the group's name."""

    node: str
    group: str


class Join(msgspec.Struct, frozen=True):
    """A fan-in as defined: the node it leads to and what it waits for."""

    node: str
    transition: int  # the first that leads there; the others agree with it
    synchronization: Synchronization


Stack = tuple[FanOut, ...]


class Lineage(msgspec.Struct, frozen=True):
    """The groups and joins of a workflow, from its graph."""

    stacks: dict[str, tuple[Stack, ...]]  # by node: the enclosing fan-outs a token there can have, innermost last
    joins: dict[FanOut, tuple[Join, ...]]  # nearest first
    passed_through: tuple[int, ...]  # transitions whose synchronization never applies to any token

    def continues(self, fan_out: FanOut) -> bool:
        """Whether a failed branch of this fan-out is lost instead of failing the run."""
        return any(j.synchronization.on_branch_failure == "continue" for j in self.joins.get(fan_out, ()))


def lineage(workflow: Workflow) -> Lineage:
    """Walk the graph once, from its initial node, with every fan-out that can enclose a token."""
    outgoing: dict[str, list[tuple[int, Transition]]] = {}
    for index, transition in enumerate(workflow.transitions):
        outgoing.setdefault(transition.source, []).append((index, transition))
    pushes = {node: _pushes(workflow, node, leaving) for node, leaving in outgoing.items()}
    most = max(MIN_STACKS, min(MAX_STACKS, MAX_WALKED // (len(workflow.transitions) or 1)))
    seen: dict[tuple[str, Stack], None] = {(workflow.initial_node, ()): None}
    joins: dict[FanOut, dict[str, Join]] = {}
    applied: set[int] = set()
    stacks_at: Counter[str] = Counter()
    queue = deque(seen)
    while queue:
        node, stack = queue.popleft()
        for index, transition, fan_outs in pushes.get(node, ()):
            for fan_out in fan_outs:
                onward = pushed = stack if fan_out is None else (*stack, fan_out)
                if transition.synchronization is not None:
                    depth = joined_depth(pushed, transition.synchronization.sibling_group)
                    if depth is not None:
                        applied.add(index)
                        found = joins.setdefault(pushed[depth], {})
                        found.setdefault(transition.target, Join(transition.target, index, transition.synchronization))
                        onward = pushed[:depth]
                place = (transition.target, onward)
                if stacks_at[transition.target] < most and place not in seen and _may_nest(onward):
                    stacks_at[transition.target] += 1
                    seen[place] = None
                    queue.append(place)
    stacks: dict[str, list[Stack]] = {}
    for node, stack in seen:
        stacks.setdefault(node, []).append(stack)
    unused = tuple(i for i, t in enumerate(workflow.transitions) if t.synchronization and i not in applied)
    return Lineage(
        {node: tuple(found) for node, found in stacks.items()},
        {fan_out: tuple(found.values()) for fan_out, found in joins.items()},
        unused,
    )


def joined_depth(stack: Stack, group: str | None) -> int | None:
    """The depth of the fan-out that a synchronization joins: the named one, or the innermost."""
    for depth in range(len(stack) - 1, -1, -1):
        if group is None or stack[depth].group == group:
            return depth
    return None


def _pushes(
    workflow: Workflow, node: str, leaving: list[tuple[int, Transition]]
) -> list[tuple[int, Transition, tuple[FanOut | None, ...]]]:
    """What following each transition of a node adds to a token's stack: a fan-out, nothing (None), or either."""
    rivals = Counter(t.priority for _, t in leaving if t.sibling_group is None)
    certain = Counter(
        t.priority for _, t in leaving if t.sibling_group is None and t.condition is True and t.loop_config is None
    )
    found: list[tuple[int, Transition, tuple[FanOut | None, ...]]] = []
    for index, transition in leaving:
        own = transition.sibling_group is None
        is_certain = own and transition.condition is True and transition.loop_config is None
        options: tuple[FanOut | None, ...] = (None,)
        if transition.makes_slots:
            options = (FanOut(node, transition.sibling_group or node),)
        elif workflow.nodes[node].fan_out != "first_match" and rivals[transition.priority] > own:
            others_certain = certain[transition.priority] > is_certain
            options = (FanOut(node, node),) if others_certain else (FanOut(node, node), None)
        found.append((index, transition, options))
    return found


def _may_nest(stack: Stack) -> bool:
    return len(stack) <= MAX_NESTING and all(stack.count(fan_out) <= MAX_REPEATS for fan_out in stack)
