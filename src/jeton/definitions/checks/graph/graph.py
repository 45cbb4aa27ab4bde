"""The graph of a workflow, as the checks use it."""

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
    makers: dict[FanOut, tuple[int, ...]]  # the transitions that may create the slots of a fan-out
    plain: dict[tuple[str, int], int]  # by node and priority: how many transitions make no slots of their own group
    around: dict[str, frozenset[FanOut]]  # by node: every fan-out that a token there may be in
    certain: frozenset[FanOut]  # those that do not depend on conditions

    @property
    def workflow(self) -> Workflow:
        return self.source.workflow

    def transition(self, index: int) -> Transition:
        return self.workflow.transitions[index]

    def tiers(self, node: str) -> list[list[int]]:
        """A node's transitions by ascending priority, in the declared order within one."""
        tiers: dict[int, list[int]] = {}
        for index in self.outgoing.get(node, ()):
            tiers.setdefault(self.transition(index).priority, []).append(index)
        return [tiers[priority] for priority in sorted(tiers)]

    def stacks(self, node: str) -> tuple[Stack, ...]:
        """The stacks of fan-outs that a token at the node may have; empty if no token gets there."""
        return self.lineage.stacks.get(node, ())

    def surely_in_branch(self, node: str) -> bool:
        """Whether some path to the node goes through a fan-out that does not depend on conditions."""
        return not self.certain.isdisjoint(self.around.get(node, ()))

    def always_in_branch(self, node: str) -> bool:
        """Whether every token at the node is in a branch."""
        stacks = self.stacks(node)
        return bool(stacks) and all(stacks)

    def joined(self, index: int) -> Iterator[Joined]:
        """The fan-outs that the transition's synchronization can join."""
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
    """The fan-out of a transition."""
    return FanOut(transition.source, transition.sibling_group or transition.source)


def graph_of(source: WorkflowSource) -> Graph:
    """Build the graph. Groups are left out if part of the workflow could not be read."""
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
    """Whether a fan-out is certain: transitions with conditions may exclude each other."""
    transitions = [workflow.transitions[index] for index in makers]
    if any(transition.makes_slots for transition in transitions):
        return True
    if workflow.nodes[transitions[0].source].fan_out == "first_match":
        return False
    always = [transition.priority for transition in transitions if is_unconditional(transition)]
    return len(always) != len(set(always))


def is_unconditional(transition: Transition) -> bool:
    """Whether it always matches: it has no condition and no loop limit."""
    return is_always(transition) and transition.loop_config is None


def is_always(transition: Transition) -> bool:
    """Whether its condition is always true."""
    return transition.condition is True or (
        isinstance(transition.condition, str) and transition.condition.strip() == "true"
    )


def is_never(transition: Transition) -> bool:
    """Whether its condition is always false."""
    return transition.condition is False or (
        isinstance(transition.condition, str) and transition.condition.strip() == "false"
    )


def reached(starts: Iterable[str], steps: dict[str, list[str]]) -> set[str]:
    """Everything reachable from the starts, including them."""
    found = set(starts)
    waiting = list(found)
    while waiting:
        for target in steps.get(waiting.pop(), ()):
            if target not in found:
                found.add(target)
                waiting.append(target)
    return found


def steps_over(transitions: Iterable[Transition]) -> dict[str, list[str]]:
    """The successors of each node."""
    steps: dict[str, list[str]] = {}
    for transition in transitions:
        steps.setdefault(transition.source, []).append(transition.target)
    return steps
