"""A workflow's graph as the checks read it."""

from collections.abc import Iterable, Iterator

import msgspec

from jeton.definitions.read_workflow import WorkflowSource
from jeton.model.lineage import FanOut, Lineage, Stack, joined_depth, lineage
from jeton.model.workflow import Transition, Workflow


class Joined(msgspec.Struct, frozen=True):
    """A transition that brings tokens to a fan-in: the fan-out whose slots it joins, and those around that one."""

    transition: int
    fan_out: FanOut
    around: Stack


class Graph(msgspec.Struct, frozen=True):
    """Nodes and transitions by what leads where, and the fan-outs around each node."""

    source: WorkflowSource
    lineage: Lineage
    outgoing: dict[str, tuple[int, ...]]

    @property
    def workflow(self) -> Workflow:
        return self.source.workflow

    def transition(self, index: int) -> Transition:
        return self.workflow.transitions[index]

    def tiers(self, node: str) -> list[list[int]]:
        """A node's transitions by ascending priority, as declared within one."""
        out = self.outgoing.get(node, ())
        priorities = sorted({self.transition(index).priority for index in out})
        return [[index for index in out if self.transition(index).priority == priority] for priority in priorities]

    def stacks(self, node: str) -> tuple[Stack, ...]:
        """The fan-outs that can be around a token at a node; none if no token gets there."""
        return self.lineage.stacks.get(node, ())

    def makers(self, fan_out: FanOut) -> list[int]:
        """The transitions that make the slots of a fan-out."""
        out = self.outgoing.get(fan_out.node, ())
        return [index for index in out if (self.transition(index).sibling_group or fan_out.node) == fan_out.group]

    def is_certain(self, fan_out: FanOut) -> bool:
        """Whether it fans out whatever the conditions say; transitions that may exclude each other do not show it."""
        makers = self.makers(fan_out)
        if any(self.transition(index).makes_slots for index in makers):
            return True
        if self.workflow.nodes[fan_out.node].fan_out == "first_match":
            return False
        always = [self.transition(index).priority for index in makers if is_unconditional(self.transition(index))]
        return len(always) != len(set(always))

    def surely_in_branch(self, node: str) -> bool:
        """Whether some way to the node leads through a fan-out that is one whatever the conditions say."""
        return any(self.is_certain(fan_out) for stack in self.stacks(node) for fan_out in stack)

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
            for pushed in self._after(index, stack):
                depth = joined_depth(pushed, transition.synchronization.sibling_group)
                if depth is not None:
                    yield Joined(index, pushed[depth], pushed[:depth])

    def _after(self, index: int, stack: Stack) -> Iterator[Stack]:
        transition = self.transition(index)
        own = FanOut(transition.source, transition.sibling_group or transition.source)
        if not transition.makes_slots:
            yield stack
        if transition.makes_slots or len(self._rivals(index)) > 1:
            yield (*stack, own)

    def _rivals(self, index: int) -> list[int]:
        """The plain transitions that can match together with a plain one, itself included."""
        transition = self.transition(index)
        if self.workflow.nodes[transition.source].fan_out == "first_match":
            return [index]
        out = self.outgoing[transition.source]
        rivals = [rival for rival in out if self.transition(rival).priority == transition.priority]
        return [rival for rival in rivals if self.transition(rival).sibling_group is None]


def graph_of(source: WorkflowSource) -> Graph:
    """The graph; of a workflow that could not be read whole, nothing is said about groups."""
    outgoing: dict[str, list[int]] = {}
    for index, transition in enumerate(source.workflow.transitions):
        outgoing.setdefault(transition.source, []).append(index)
    found = lineage(source.workflow) if source.whole else Lineage({}, {}, ())
    return Graph(source, found, {node: tuple(out) for node, out in outgoing.items()})


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
