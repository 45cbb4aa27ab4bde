"""Nodes that end the run, whatever else is under way."""

from jeton.expression.templates.template import TemplateProblem
from jeton.model.decision import Decision, FinishNode, RouteToken
from jeton.model.definition.workflow import EndTarget
from jeton.model.failure import BrokenInvariant, RunError, TaskFailed
from jeton.model.state.run import RunState, Token
from jeton.planning.program.workflow import Program
from jeton.planning.tokens.cancel import end_run
from jeton.planning.tokens.completion import plan_completion
from jeton.planning.tokens.failure import plan_failure
from jeton.planning.tokens.scope import scope_of


def plan_end(program: Program, state: RunState, token: Token, missing: tuple[str, ...], now: int) -> list[Decision]:
    """End the run, completed or failed. A failed end is not routed, and loses no branch."""
    node = program.nodes[token.node]
    target = node.definition.target
    if not isinstance(target, EndTarget):
        raise BrokenInvariant("the node is not an end", node=token.node)
    if target.failed is None:
        finished = FinishNode(token.id, token.node, missing=missing)
        ended = plan_completion(program, state, now, by=token)
        return [finished, RouteToken(token.id, token.node, "completed"), *ended]
    try:
        message = node.text.render(scope_of(program, state, token))
    except TemplateProblem as problem:
        failure = TaskFailed("template_error", f"the message of the end: {problem.message}")
        return plan_failure(program, state, token, failure, now)
    error = RunError(target.failed.type, message or f"the run ends at '{token.node}'", token.node, token.id)
    return end_run(state, now, "failed", error, failing=token)
