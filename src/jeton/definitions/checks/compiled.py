"""Expressions of a workflow, compiled with the variables of their scope."""

import re
from collections.abc import Collection, Mapping

import msgspec

from jeton.definitions.checks.graph.graph import Graph, fan_out_of
from jeton.definitions.read.location import SourceLocation
from jeton.definitions.report import Report, shown
from jeton.expression import Expression, ExpressionInvalid, compile_expression, literal
from jeton.model.definition.workflow import AgentTarget, GateTarget, MOfN, WaitTarget, WorkflowTarget
from jeton.model.json import Json
from jeton.model.state.lineage import FanOut

CONTEXT = frozenset(("input", "state", "output", "run"))
AT_NODE = CONTEXT | {"_branch"}
LAST_ERROR = ("state", "_last_error")
BARE_TEXT = re.compile(r"[\w-]+( [\w-]+)*", re.ASCII)

CompiledExpressions = Mapping[str, Expression]


class CompiledWorkflow(msgspec.Struct, frozen=True):
    """The compiled expressions of a workflow. Those that do not compile are reported and left out."""

    inputs: dict[str, CompiledExpressions]  # by node
    outputs: dict[str, CompiledExpressions]  # by node
    waits: dict[str, CompiledExpressions]  # by node
    conditions: dict[int, Expression]  # by transition
    collections: dict[int, Expression]
    counts: dict[int, Expression]
    result: CompiledExpressions
    numbers: list[tuple[Expression, str | None, SourceLocation]]  # with the node whose variables it reads
    conversations: dict[str, CompiledExpressions]  # by node

    def handles_failure(self, index: int) -> bool:
        """Whether a transition is considered after a failure: its condition reads the last error."""
        condition = self.conditions.get(index)
        return condition is not None and any(path[:2] == LAST_ERROR for path in condition.reads)


def compile_workflow(graph: Graph, report: Report) -> CompiledWorkflow:
    """Compile all expressions of a workflow, but not those of its tasks."""
    workflow, source = graph.workflow, graph.source
    compiled = CompiledWorkflow({}, {}, {}, {}, {}, {}, {}, [], {})
    everywhere = item_variables(graph)
    for name, node in workflow.nodes.items():
        scope, location = _Scope(graph, name, everywhere, report), source.node(name)
        compiled.inputs[name] = scope.mapping(node.input_mapping, location / "input_mapping")
        compiled.outputs[name] = scope.mapping(node.output_mapping, location / "output_mapping", {"result"})
        if isinstance(node.target, WaitTarget):
            times = {"seconds": node.target.seconds, "until": node.target.until}
            known = {key: value for key, value in times.items() if value is not None}
            compiled.waits[name] = scope.mapping(known, location / "wait")
        match node.target:
            case WaitTarget(timeout_ms=timeout):
                scope.number(timeout, name, location / "wait" / "timeout_ms", compiled)
            case GateTarget(timeout_ms=timeout):
                scope.number(timeout, name, location / "gate" / "timeout_ms", compiled)
            case WorkflowTarget(timeout_ms=timeout):
                scope.number(timeout, name, location / "timeout_ms", compiled)
            case AgentTarget(conversation=conversation, timeout_ms=timeout):
                scope.number(timeout, name, location / "agent" / "timeout_ms", compiled)
                given = {} if conversation is None else {"conversation": conversation}
                compiled.conversations[name] = scope.mapping(given, location / "agent")
            case _:
                pass
        for index in graph.outgoing.get(name, ()):
            _compile_transition(graph, index, scope, compiled)
    if isinstance(workflow.timeout_ms, str):
        compile_one(workflow.timeout_ms, frozenset(("input", "run")), source.location / "timeout_ms", report)
    result = compile_expressions(workflow.output_mapping, CONTEXT, source.location / "output_mapping", report)
    return msgspec.structs.replace(compiled, result=result)


def _compile_transition(graph: Graph, index: int, scope: "_Scope", compiled: CompiledWorkflow) -> None:
    transition, location = graph.transition(index), graph.source.transition(index)
    wanted = {
        "condition": (transition.condition, compiled.conditions, {"result"}),
        "spawn_count": (transition.spawn_count, compiled.counts, set[str]()),
    }
    for key, (value, found, more) in wanted.items():
        expression = None if value is None else scope.expression(value, location / key, more)
        if expression is not None:
            found[index] = expression
    if transition.foreach is not None:
        collection = scope.expression(transition.foreach.collection, location / "foreach" / "collection")
        if collection is not None:
            compiled.collections[index] = collection
        at = location / "foreach" / "max_parallel"
        scope.number(transition.foreach.max_parallel, transition.source, at, compiled)
    synchronization = transition.synchronization
    if synchronization is not None:
        at = graph.source.synchronization(index)
        if isinstance(synchronization.strategy, MOfN):
            _compile_number(synchronization.strategy.m_of_n, at / "strategy" / "m_of_n", scope, compiled)
        _compile_number(synchronization.timeout_ms, at / "timeout_ms", scope, compiled)


def _compile_number(
    written: int | str | None, location: SourceLocation, scope: "_Scope", compiled: CompiledWorkflow
) -> None:
    """Compile a number of a fan-in, which reads the context and the branch around its group."""
    if isinstance(written, str):
        expression = compile_one(written, AT_NODE, location, scope.report)
        if expression is not None:
            compiled.numbers.append((expression, None, location))


class _Scope:
    """The variables at one node: the context, the branch, and the items of every fan-out that may be around it."""

    def __init__(self, graph: Graph, node: str, everywhere: Mapping[str, set[FanOut]], report: Report) -> None:
        self.report = report
        here = graph.around.get(node, frozenset())
        known = everywhere if not graph.source.whole else {n: f for n, f in everywhere.items() if here & f}
        self._elsewhere = {name: fan_outs for name, fan_outs in everywhere.items() if name not in known}
        self._variables = AT_NODE | frozenset(known)

    def expression(self, value: Json, location: SourceLocation, more: Collection[str] = ()) -> Expression | None:
        return compile_one(value, self._variables | frozenset(more), location, self.report, self._elsewhere)

    def number(
        self, written: int | str | None, node: str, location: SourceLocation, compiled: CompiledWorkflow
    ) -> None:
        if isinstance(written, str):
            expression = self.expression(written, location)
            if expression is not None:
                compiled.numbers.append((expression, node, location))

    def mapping(
        self, written: Mapping[str, Json] | None, location: SourceLocation, more: Collection[str] = ()
    ) -> CompiledExpressions:
        variables = self._variables | frozenset(more)
        return compile_expressions(written, variables, location, self.report, self._elsewhere)


def item_variables(graph: Graph) -> dict[str, set[FanOut]]:
    """Each item variable of a workflow, with the fan-outs that set it."""
    found: dict[str, set[FanOut]] = {}
    for transition in graph.workflow.transitions:
        if transition.foreach is not None and transition.foreach.item_var is not None:
            found.setdefault(transition.foreach.item_var, set()).add(fan_out_of(transition))
    return found


def compile_expressions(
    written: Mapping[str, Json] | None,
    variables: frozenset[str],
    location: SourceLocation,
    report: Report,
    elsewhere: Mapping[str, Collection[FanOut]] | None = None,
) -> dict[str, Expression]:
    """Compile the expressions of a mapping, by target."""
    found: dict[str, Expression] = {}
    for target, value in (written or {}).items():
        expression = compile_one(value, variables, location / target, report, elsewhere)
        if expression is not None:
            found[target] = expression
    return found


def compile_one(
    value: Json,
    variables: frozenset[str],
    location: SourceLocation,
    report: Report,
    elsewhere: Mapping[str, Collection[FanOut]] | None = None,
) -> Expression | None:
    """Compile a text as an expression; any other value is a constant."""
    if not isinstance(value, str):
        return literal(value)
    try:
        return compile_expression(value, variables)
    except ExpressionInvalid as invalid:
        for each in invalid.problems:
            problem = f"{shown(value)} at {each.position}: {each.problem}"
            remedy = _remedy(value, each.problem, elsewhere or {}) or each.remedy
            report.error(location, "expression_invalid", problem, remedy)
        return None


def _remedy(source: str, problem: str, elsewhere: Mapping[str, Collection[FanOut]]) -> str | None:
    """A remedy that knows the graph, or that a plain text was meant; None if neither helps."""
    for name, fan_outs in elsewhere.items():
        if f"'{name}'" in problem:
            nodes = " and ".join(sorted(f"'{fan_out.node}'" for fan_out in fan_outs))
            return f"'{name}' is known only in the branches that {nodes} makes"
    if BARE_TEXT.fullmatch(source):
        return f"write a variable, or \"'{source}'\" if a text is meant"
    return None
