"""A workflow's graph as the checks read it."""

from collections.abc import Iterable, Iterator

import msgspec

from jeton.definitions.read.workflow import WorkflowSource
from jeton.model.definition.workflow import Transition, Workflow
from jeton.model.state.lineage import FanOut, Lineage, Stack, joined_depth, lineage


class Joined(msgspec.Struct, frozen=True):
    """A transition that brings tokens to a fan-in: the fan-out whose slots it joins, and those around that one."""

    transition: int
    fan_out: FanOut
    around: Stack


class Graph(msgspec.Struct, frozen=True):
    """Nodes and transitions by what leads where, and the fan-outs around each node.

    What many checks ask for is worked out once: a node may have thousands of transitions, and thousands of stacks.
    """

    source: WorkflowSource
    lineage: Lineage
    outgoing: dict[str, tuple[int, ...]]
    makers: dict[FanOut, tuple[int, ...]]  # the transitions that make, or could make, the slots of a fan-out
    plain: dict[tuple[str, int], int]  # by node and priority: how many transitions make no slots of their own group
    around: dict[str, frozenset[FanOut]]  # by node: every fan-out that can be around a token there
    certain: frozenset[FanOut]  # those that fan out whatever the conditions say

    @property
    def workflow(self) -> Workflow:
        return self.source.workflow

    def transition(self, index: int) -> Transition:
        return self.workflow.transitions[index]

    def tiers(self, node: str) -> list[list[int]]:
        """A node's transitions by ascending priority, as declared within one."""
        tiers: dict[int, list[int]] = {}
        for index in self.outgoing.get(node, ()):
            tiers.setdefault(self.transition(index).priority, []).append(index)
        return [tiers[priority] for priority in sorted(tiers)]

    def stacks(self, node: str) -> tuple[Stack, ...]:
        """The fan-outs that can be around a token at a node, way by way; none if no token gets there."""
        return self.lineage.stacks.get(node, ())

    def surely_in_branch(self, node: str) -> bool:
        """Whether some way to the node leads through a fan-out that is one whatever the conditions say."""
        return not self.certain.isdisjoint(self.around.get(node, ()))

    def always_in_branch(self, node: str) -> bool:
        """Whether no token is ever at the node outside all branches."""
        stacks = self.stacks(node)
        return bool(stacks) and all(stacks)

    def joined(self, index: int) -> Iterator[Joined]:
        """Which fan-outs the transition's synchronization can speak of."""
        transition = self.transition(index)
        if transition.synchronization is None:
            return
        for stack in self.stacks(transition.source):
            for pushed in self._after(transition, stack):
                depth = joined_depth(pushed, transition.synchronization.sibling_group)
                if depth is not None:
                    yield Joined(index, pushed[depth], pushed[:depth])

    def _after(self, transition: Transition, stack: Stack) -> Iterator[Stack]:
        if not transition.makes_slots:
            yield stack
            if self.workflow.nodes[transition.source].fan_out == "first_match":
                return
        if transition.makes_slots or self.plain[transition.source, transition.priority] > 1:
            yield (*stack, fan_out_of(transition))


def fan_out_of(transition: Transition) -> FanOut:
    """The fan-out a transition takes part in, if it is one."""
    return FanOut(transition.source, transition.sibling_group or transition.source)


def graph_of(source: WorkflowSource) -> Graph:
    """The graph; of a workflow that could not be read whole, nothing is said about groups."""
    outgoing: dict[str, list[int]] = {}
    makers: dict[FanOut, list[int]] = {}
    plain: dict[tuple[str, int], int] = {}
    for index, transition in enumerate(source.workflow.transitions):
        outgoing.setdefault(transition.source, []).append(index)
        makers.setdefault(fan_out_of(transition), []).append(index)
        tier = (transition.source, transition.priority)
        plain[tier] = plain.get(tier, 0) + (transition.sibling_group is None)
    found = lineage(source.workflow) if source.whole else Lineage({}, {}, ())
    return Graph(
        source=source,
        lineage=found,
        outgoing={node: tuple(out) for node, out in outgoing.items()},
        makers={fan_out: tuple(indices) for fan_out, indices in makers.items()},
        plain=plain,
        around={node: frozenset().union(*stacks) for node, stacks in found.stacks.items()},
        certain=frozenset(fan_out for fan_out, indices in makers.items() if _is_certain(source.workflow, indices)),
    )


def _is_certain(workflow: Workflow, makers: list[int]) -> bool:
    """Transitions that may exclude each other are no fan-out yet: mostly they are meant as either-or."""
    transitions = [workflow.transitions[index] for index in makers]
    if any(transition.makes_slots for transition in transitions):
        return True
    if workflow.nodes[transitions[0].source].fan_out == "first_match":
        return False
    always = [transition.priority for transition in transitions if is_unconditional(transition)]
    return len(always) != len(set(always))


def is_unconditional(transition: Transition) -> bool:
    """Whether it always matches: no condition, and no loop that can be used up."""
    return is_always(transition) and transition.loop_config is None


def is_always(transition: Transition) -> bool:
    """Whether its condition is true whatever the data."""
    return transition.condition is True or (
        isinstance(transition.condition, str) and transition.condition.strip() == "true"
    )


def is_never(transition: Transition) -> bool:
    """Whether its condition is false whatever the data."""
    return transition.condition is False or (
        isinstance(transition.condition, str) and transition.condition.strip() == "false"
    )


def reached(starts: Iterable[str], steps: dict[str, list[str]]) -> set[str]:
    """Everything that can be got to, the starts included."""
    found = set(starts)
    waiting = list(found)
    while waiting:
        for target in steps.get(waiting.pop(), ()):
            if target not in found:
                found.add(target)
                waiting.append(target)
    return found


def steps_over(transitions: Iterable[Transition]) -> dict[str, list[str]]:
    """Which nodes lead directly to which."""
    steps: dict[str, list[str]] = {}
    for transition in transitions:
        steps.setdefault(transition.source, []).append(transition.target)
    return steps
