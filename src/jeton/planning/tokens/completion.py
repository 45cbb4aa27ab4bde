"""The end of a run that has no active token left, or that a node ends as completed."""

from jeton.expression import Failed
from jeton.expression.mapping import build_tree, evaluate_mapping
from jeton.model.decision import Decision, EndRun
from jeton.model.failure import RunError
from jeton.model.json import JsonObject
from jeton.model.state.run import RunState, Token
from jeton.planning.flow.progress import plan_flow_completion
from jeton.planning.program.workflow import Program
from jeton.planning.schema_problem import schema_problem
from jeton.planning.tokens.cancel import alive_in_run, end_run, end_tokens


def plan_completion(program: Program, state: RunState, now: int, by: Token | None = None) -> list[Decision]:
    """Map the output, check it, and end the run. Other tokens end cancelled: abandoned ones, and if the token `by`
    ends the run, all that are under way."""
    if program.flow is not None:
        return plan_flow_completion(program, state, now)
    missing: tuple[str, ...] = ()
    output: JsonObject = dict(state.output)
    if program.output_mapping is not None:
        names: JsonObject = {"input": state.input, "state": state.state, "output": state.output, "run": state.facts}
        found = evaluate_mapping(program.output_mapping, names)
        if isinstance(found, Failed):
            message = f"the workflow's output_mapping at {found.position}: {found.problem}"
            error = RunError("expression_error", message, details=found.values)
            return end_run(state, now, "failed", error, ended_by=by)
        values, missing = found
        output = build_tree(values)
    problem = schema_problem(program.output_validator, output, "output")
    if problem is not None:
        return end_run(state, now, "failed", RunError("output_invalid", problem), ended_by=by)
    if by is None:
        left = end_tokens(state, alive_in_run(state), "cancelled", "abandoned")
        return [*left, EndRun(now, "completed", output, missing=missing)]
    left = end_tokens(state, alive_in_run(state) - {by.id}, "cancelled", f"run completed at '{by.node}'")
    return [*left, EndRun(now, "completed", output, missing=missing, ended_by=by.id)]
