"""The output of a flow's run."""

import msgspec

from jeton.expression import Failed
from jeton.expression.mapping import build_tree, evaluate_mapping
from jeton.model.failure import RunError
from jeton.model.json import JsonObject
from jeton.model.state.flow_run import FlowState
from jeton.model.state.overlay import merged
from jeton.planning.flow.node import context_after, initial_context
from jeton.planning.flow.readiness import is_live
from jeton.planning.program.flow import FlowProgram
from jeton.planning.schema_problem import schema_problem


class FlowOutput(msgspec.Struct, frozen=True):
    """The output, and the paths of its mapping that were missing."""

    value: JsonObject
    missing: tuple[str, ...] = ()


def flow_output(program: FlowProgram, state: FlowState, run: JsonObject) -> FlowOutput | RunError:
    """The output: the final context, mapped if the flow has a mapping. A problem fails the run."""
    found = FlowOutput(final_context(program, state))
    if program.output_mapping is not None:
        values = evaluate_mapping(program.output_mapping, {"context": found.value, "run": run})
        if isinstance(values, Failed):
            message = f"the flow's output_mapping at {values.position}: {values.problem}"
            return RunError("expression_error", message, details=values.values)
        found = FlowOutput(build_tree(values[0]), values[1])
    problem = schema_problem(program.output_validator, found.value, "output")
    return found if problem is None else RunError("output_invalid", problem)


def final_context(program: FlowProgram, state: FlowState) -> JsonObject:
    """The merged contexts of all last nodes in declaration order; the input if no node ran."""
    last = [name for name in program.nodes if name in state.executed and not _went_on(program, state, name)]
    if not last:
        return dict(initial_context(state))
    return merged([context_after(program, state, name) for name in last]).plain()


def _went_on(program: FlowProgram, state: FlowState, node: str) -> bool:
    """Whether a node delivered anything onward."""
    return any(is_live(state.executed[node], handle) for handle in program.nodes[node].outgoing)
