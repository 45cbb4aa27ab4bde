"""What a node does with a new token: dispatch a task, call a workflow, wait, or pass it on."""

from typing import assert_never

from msgspec import UNSET, UnsetType

from jeton.expression import Failed
from jeton.expression.mapping import build_tree, evaluate_mapping
from jeton.model.decision import BeginNode, DispatchToken
from jeton.model.definition.workflow import AgentTarget, EndTarget, GateTarget, TaskTarget, WaitTarget, WorkflowTarget
from jeton.model.failure import BrokenInvariant, RunError, TaskFailed
from jeton.model.json import Json, JsonObject
from jeton.model.state.run import RunState, Token
from jeton.planning.credits import await_credits, pay
from jeton.planning.flow.progress import plain_input, plan_flow_begin
from jeton.planning.program.workflow import CompiledNode, Program
from jeton.planning.tokens.cancel import end_run
from jeton.planning.tokens.end import plan_end
from jeton.planning.tokens.failure import plan_failure
from jeton.planning.tokens.node import Plan, expression_failure, plan_success, task_timeout
from jeton.planning.tokens.scope import scope_of
from jeton.planning.turns.calls import plan_call_begin, plan_call_held
from jeton.planning.waits.agent import plan_agent
from jeton.planning.waits.child import plan_call
from jeton.planning.waits.gate import plan_gate
from jeton.planning.waits.signal import plan_signal_wait
from jeton.planning.waits.timer import plan_wait


def plan_begin(program: Program, state: RunState, token: Token, now: int) -> Plan:
    """Begin the node of a pending token, if its price can be paid, and the budget of an agent has room for it."""
    if program.talk is not None and (held := plan_call_held(program, state, token, now)) is not None:
        return Plan(held)
    if state.head.purse is None:
        return _begin(program, state, token, now)
    paid = pay(program, state, token)
    if paid is None:
        return Plan(await_credits(state))
    plan = _begin(program, state, token, now)
    return Plan([*paid, *plan.decisions], plan.then) if paid else plan


def _begin(program: Program, state: RunState, token: Token, now: int) -> Plan:
    if program.talk is not None:
        return Plan(plan_call_begin(program, state, token, now))
    if program.flow is not None:
        return _begin_flow_node(program, state, token, now)
    limit = program.workflow.limits.max_node_executions
    if state.head.executions >= limit:
        message = f"max_node_executions: node '{token.node}' would be execution {limit + 1} of this run"
        return Plan(
            end_run(state, now, "failed", RunError("limit_exceeded", message, token.node, token.id), failing=token)
        )
    node = program.nodes[token.node]
    found = _input(program, state, token, node)
    if type(found) is TaskFailed:
        return Plan(plan_failure(program, state, token, found, now))
    given, missing = found
    if node.task is not None:
        allowed = node.timeout if type(node.timeout) is int else task_timeout(program, state, token.node, given)
        if isinstance(allowed, TaskFailed):
            return Plan(plan_failure(program, state, token, allowed, now))
        return Plan([DispatchToken(token.id, token.node, now, now + allowed, 1, given, missing)])
    match node.definition.target:
        case None:
            result = state.input if isinstance(given, UnsetType) else given
            return plan_success(program, state, token, result, now, missing)
        case WaitTarget():
            if node.signals:
                return plan_signal_wait(program, state, token, missing, now)
            return plan_wait(program, state, token, node, missing, now)
        case GateTarget():
            return plan_gate(program, state, token, missing, now)
        case WorkflowTarget():
            return Plan(plan_call(program, state, token, given, missing, now))
        case EndTarget():
            return Plan(plan_end(program, state, token, missing, now))
        case AgentTarget():
            return Plan(plan_agent(program, state, token, given, missing, now))
        case TaskTarget():
            raise BrokenInvariant("the node's task is missing", node=token.node)
        case _:
            assert_never(node.definition.target)


def _begin_flow_node(program: Program, state: RunState, token: Token, now: int) -> Plan:
    begun = plan_flow_begin(program, state, token, now)
    if isinstance(begun, list):
        return Plan(begun)
    begin = BeginNode(token.id, token.node)
    match begun.work:
        case GateTarget():
            names: JsonObject = {"inputs": begun.inputs, "data": begun.data, "context": begun.context or {}}
            names["run"] = state.facts
            plan = plan_gate(program, state, token, (), now, names)
            return Plan([begin, *plan.decisions], plan.then)
        case WorkflowTarget():
            seen: JsonObject = {"inputs": begun.inputs, "context": begun.context or {}, "run": state.facts}
            return Plan([begin, *plan_call(program, state, token, plain_input(begun.inputs), (), now, seen)])
        case AgentTarget():
            asked: JsonObject = {"inputs": begun.inputs, "context": begun.context or {}, "run": state.facts}
            return Plan([begin, *plan_agent(program, state, token, plain_input(begun.inputs), (), now, asked)])
        case TaskTarget():
            raise BrokenInvariant("a task was begun twice", node=token.node)


def _input(
    program: Program, state: RunState, token: Token, node: CompiledNode
) -> tuple[Json | UnsetType, tuple[str, ...]] | TaskFailed:
    """The mapped input and the missing paths. Without a mapping the input is unset, which means the run's own input."""
    if node.input_mapping is None:
        return UNSET, ()
    found = evaluate_mapping(node.input_mapping, scope_of(program, state, token))
    if type(found) is Failed:
        return expression_failure("input_mapping", found)
    return build_tree(found[0]), found[1]
