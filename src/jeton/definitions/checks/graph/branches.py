"""Checks of data in branches: conflicting writes, stale reads, discarded output."""

from collections.abc import Iterator

from jeton.definitions.checks.compiled import CompiledExpressions, CompiledWorkflow
from jeton.definitions.checks.graph.graph import Graph, reached
from jeton.definitions.report import Report, shown
from jeton.expression import Expression
from jeton.model.paths import branch_keys
from jeton.model.state.lineage import FanOut, Stack

SECTIONS = ("state", "output")


def check_branches(graph: Graph, compiled: CompiledWorkflow, report: Report) -> None:
    """Check the data flow of branches, which write only to their own output."""
    for node in graph.workflow.nodes:
        if graph.surely_in_branch(node):
            _check_both_sections(graph, node, report)
    _check_stale_reads(graph, compiled, report)
    _check_discarded(graph, compiled, report)


def _check_both_sections(graph: Graph, node: str, report: Report) -> None:
    """Report nodes that write both `state.x` and `output.x`, which are one key in a branch."""
    location = graph.source.node(node) / "output_mapping"
    written: dict[tuple[str, ...], str] = {}
    for target in _targets(graph, node):
        keys = tuple(branch_keys(target))
        other = written.setdefault(keys, target)
        if other != target:
            problem = (
                f"{shown(other)} and {shown(target)} are the same key in a branch: '_branch.output.{'.'.join(keys)}'"
            )
            report.error(location / target, "both_sections_written", problem, "give one of the two another name")


def _targets(graph: Graph, node: str) -> list[str]:
    """The targets that a node writes in a branch, without invalid ones."""
    targets = graph.workflow.nodes[node].output_mapping or {}
    return [target for target in targets if target.split(".")[0] in (*SECTIONS, "_branch")]


def _check_stale_reads(graph: Graph, compiled: CompiledWorkflow, report: Report) -> None:
    """Warn of reads of state that the branch has written, which is in `_branch.output` until the merge."""
    written = _written_in(graph)
    for node, expression, location in _reads(graph, compiled):
        own = graph.around.get(node, frozenset()) & graph.certain
        for path in expression.reads:
            if path[0] in SECTIONS and any(_overlaps(path, target) for f in own for target in written.get(f, ())):
                text = ".".join(path)
                problem = f"reads {shown(text)} in a branch that writes it, and sees what it was before the branch"
                remedy = f"read '_branch.output.{'.'.join(path[1:])}' if what the branch wrote is meant"
                report.warning(graph.source.location.at(location), "state_read_in_branch", problem, remedy)


def _written_in(graph: Graph) -> dict[FanOut, set[tuple[str, ...]]]:
    """By fan-out: the keys that its branches write, by a mapping or a merge inside them."""
    written: dict[FanOut, set[tuple[str, ...]]] = {}
    for name, node in graph.workflow.nodes.items():
        for fan_out in {stack[-1] for stack in graph.stacks(name) if stack} if node.output_mapping else ():
            written.setdefault(fan_out, set()).update(tuple(target.split(".")) for target in node.output_mapping or ())
    for index, transition in enumerate(graph.workflow.transitions):
        merge = transition.synchronization.merge if transition.synchronization is not None else None
        for joined in graph.joined(index) if merge is not None else ():
            if joined.around and merge is not None:
                written.setdefault(joined.around[-1], set()).add(tuple(merge.target.split(".")))
    return written


def _overlaps(path: tuple[str, ...], target: tuple[str, ...]) -> bool:
    """Whether one path is below the other. Reading a whole section does not count as reading a key."""
    shorter = min(len(path), len(target))
    return len(path) > 1 and path[:shorter] == target[:shorter]


_At = tuple[str | int, ...]


def _reads(graph: Graph, compiled: CompiledWorkflow) -> Iterator[tuple[str, Expression, _At]]:
    """Every expression of a node and of its transitions, with its path in the workflow."""
    for node in graph.workflow.nodes:
        mappings: dict[str, CompiledExpressions] = {
            "input_mapping": compiled.inputs[node],
            "output_mapping": compiled.outputs[node],
            "wait": compiled.waits.get(node, {}),
        }
        for key, mapping in mappings.items():
            for target, expression in mapping.items():
                yield node, expression, ("nodes", node, key, target)
        for index in graph.outgoing.get(node, ()):
            at = ("transitions", graph.source.written_at[index])
            if index in compiled.conditions:
                yield node, compiled.conditions[index], (*at, "condition")
            if index in compiled.collections:
                yield node, compiled.collections[index], (*at, "foreach", "collection")
            if index in compiled.counts:
                yield node, compiled.counts[index], (*at, "spawn_count")


def _check_discarded(graph: Graph, compiled: CompiledWorkflow, report: Report) -> None:
    """Warn of output of a branch that no join merges and nothing in the branch reads."""
    leading = _LeadingTo(graph)
    read = {
        path[2:3] for _, expression, _ in _reads(graph, compiled) for path in expression.reads if path[0] == "_branch"
    }
    for name, node in graph.workflow.nodes.items():
        if not node.output_mapping or not graph.always_in_branch(name):
            continue
        for target in _targets(graph, name):
            keys = branch_keys(target)
            is_read = () in read or tuple(keys[:1]) in read
            if not is_read and not any(_is_kept(graph, name, stack, keys, leading) for stack in graph.stacks(name)):
                problem = f"writes {shown(target)} in a branch, and no join it comes to merges it: it is discarded"
                remedy = "merge it at a join, or remove it"
                location = graph.source.node(name) / "output_mapping" / target
                report.warning(location, "branch_output_discarded", problem, remedy)


class _LeadingTo:
    """The nodes that lead to a join, computed when first needed."""

    def __init__(self, graph: Graph) -> None:
        self._back: dict[str, list[str]] = {}
        for transition in graph.workflow.transitions:
            self._back.setdefault(transition.target, []).append(transition.source)
        self._found: dict[str, set[str]] = {}

    def __call__(self, join: str) -> set[str]:
        if join not in self._found:
            self._found[join] = reached([join], self._back)
        return self._found[join]


def _is_kept(graph: Graph, node: str, stack: Stack, keys: list[str], leading: _LeadingTo) -> bool:
    """Whether a join merges what is at these keys; without a join it is copied to the outer branch."""
    if not stack:
        return True
    joins = graph.lineage.joins.get(stack[-1], ())
    merges = [
        join.synchronization.merge
        for join in joins
        if join.synchronization.merge is not None and node in leading(join.node)
    ]
    for merge in merges:
        source = merge.source.split(".")[2:]
        shorter = min(len(source), len(keys))
        if source[:shorter] == keys[:shorter]:
            return _is_kept(graph, node, stack[:-1], branch_keys(merge.target), leading)
    return not joins and len(stack) > 1 and _is_kept(graph, node, stack[:-1], keys, leading)
