"""Decisions when a node of a flow begins, is done, or fails."""

import msgspec
from msgspec import UNSET

from jeton.expression import Expression
from jeton.expression.counts import Count, NotACount, count_of
from jeton.model import decision as d
from jeton.model.definition.flow import CONTROL_KEYS, ERROR, MAIN
from jeton.model.definition.task import DEFAULT_TASK_TIMEOUT_MS
from jeton.model.definition.workflow import AgentTarget, GateTarget, TaskTarget, WorkflowTarget
from jeton.model.failure import BrokenInvariant, RunError, TaskFailed
from jeton.model.ids import ROOT_PATH, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.message import StartRun
from jeton.model.state.flow_run import Executed, FlowState, Settled, WaitingNode
from jeton.model.state.run import RunState, Token, TokenEnd
from jeton.planning.flow.control_keys import read_result
from jeton.planning.flow.node import NodeCall, begin_node
from jeton.planning.flow.output import flow_output
from jeton.planning.flow.readiness import limit_problem, reopened, settle_executed, settle_failed, start_flow, status_of
from jeton.planning.program.flow import FlowProgram
from jeton.planning.program.workflow import Program
from jeton.planning.tokens.cancel import end_run


def plan_flow_start(flow: FlowProgram, state: RunState, message: StartRun) -> list[d.Decision]:
    """Create a token at every node that begins."""
    fired = None if message.trigger is None else message.trigger.node
    return _onward(state, start_flow(flow, FlowState(message.input), fired), None)


def plan_flow_retry(program: Program, state: RunState, fork: d.ForkHistory) -> list[d.Decision]:
    """Create a token at every failed node, in a fork that retries them. What is behind them does not go on."""
    reopen = None if program.flow is None else reopened(program.flow, state.flow)
    if reopen is None:
        return [fork]
    dropped = tuple(token.id for token in state.tokens.values() if token.node in reopen.remaining)
    first = state.head.next_token
    tokens = [d.CreateToken(TokenId(first + i), node, ROOT_PATH, None) for i, node in enumerate(reopen.failed)]
    return [msgspec.structs.replace(fork, dropped=dropped) if dropped else fork, reopen, *tokens]


def flow_of(program: Program) -> FlowProgram:
    """The flow of a program. Raises BrokenInvariant if it has none."""
    if program.flow is None:
        raise BrokenInvariant("the program is not a flow's", workflow=program.workflow.name)
    return program.flow


def plan_flow_begin(program: Program, state: RunState, token: Token, now: int) -> list[d.Decision] | NodeCall:
    """Begin a ready node. A call that needs more than a worker is returned to the caller."""
    flow = flow_of(program)
    problem = limit_problem(flow, state.flow, token.node)
    if problem is not None:
        # a fork of the run continues with the token in the error
        return end_run(state, now, "failed", msgspec.structs.replace(problem, token=token.id), failing=token)
    begun = begin_node(flow, state.flow, token.node, now, state.facts)
    if isinstance(begun, NodeCall) and not isinstance(begun.work, TaskTarget):
        return begun
    begin = d.BeginNode(token.id, token.node)
    match begun:
        case NodeCall():
            task = program.nodes[token.node].task
            if task is None:
                raise BrokenInvariant("a node without a task was dispatched", node=token.node)
            given = task_input(begun, token.node)
            allowed = _task_timeout(program.nodes[token.node].timeout, given, state)
            if isinstance(allowed, NotACount):
                return [begin, *_failed(flow, state, token, TaskFailed(allowed.type, allowed.message), now)]
            return [begin, d.DispatchToken(token.id, token.node, now, now + allowed, 1, given)]
        case Executed():
            return [begin, *_executed(flow, state, token, begun)]
        case WaitingNode():
            return [begin, d.HoldNode(token.id, token.node, now, begun)]
        case TaskFailed():
            return [begin, *_failed(flow, state, token, begun, now)]


def _task_timeout(timeout: Count | None, given: Json, state: RunState) -> int | NotACount:
    """How long one attempt may take."""
    if isinstance(timeout, Expression):
        return count_of("timeout_ms", timeout, {"input": given, "run": state.facts})
    return DEFAULT_TASK_TIMEOUT_MS if timeout is None else timeout


def task_input(call: NodeCall, node: str) -> Json:
    """The input of a task: the inputs by handle, or the object on `main` if there is nothing else.

    A Python node gets inputs, data, context and its own name."""
    if call.context is not None:
        return {"inputs": call.inputs, "data": call.data, "context": call.context, "node_id": node}
    return plain_input(call.inputs)


def plain_input(inputs: JsonObject) -> Json:
    """The inputs by handle, or the object on `main` if there is nothing else."""
    main = inputs.get(MAIN, UNSET)
    return main if len(inputs) == 1 and isinstance(main, dict) else inputs


def plan_flow_success(program: Program, state: RunState, token: Token, result: Json, now: int) -> list[d.Decision]:
    """The node is done, or its wait is over and its kept result counts."""
    flow = flow_of(program)
    held = state.flow.waiting.get(token.node)
    if held is not None:
        return _executed(flow, state, token, held.executed, waited=True)
    if isinstance(flow.nodes[token.node].work, GateTarget | WorkflowTarget | AgentTarget):
        # answers and results of other runs have no control keys
        done = Executed(result if isinstance(result, dict) else {} if result is None else {"result": result})
        return _executed(flow, state, token, done)
    match read_result(result, now):
        case Executed() as executed:
            return _executed(flow, state, token, executed)
        case WaitingNode() as waiting:
            return [d.HoldNode(token.id, token.node, now, waiting)]
        case TaskFailed() as failure:
            return _failed(flow, state, token, failure, now)


def plan_flow_failure(
    program: Program, state: RunState, token: Token, failure: TaskFailed, now: int
) -> list[d.Decision]:
    """The node failed: skip what depends on it, or end the run."""
    return _failed(flow_of(program), state, token, failure, now)


def plan_flow_completion(program: Program, state: RunState, now: int) -> list[d.Decision]:
    """Every node is settled: end the run with its output, or with the first error in declaration order."""
    flow = flow_of(program)
    if status_of(flow, state.flow) == "failed":
        node = next(name for name in flow.nodes if name in state.flow.errors)
        failure = state.flow.errors[node]
        others = len(state.flow.errors) - 1
        more = f" (and {others} more)" if others else ""
        message, details = f"{failure.message}{more}", _details(failure)
        error = RunError(failure.type, message, node, step=failure.step, details=details, calls=failure.calls)
        return [d.EndRun(now, "failed", error=error)]
    output = flow_output(flow, state.flow, state.facts)
    if isinstance(output, RunError):
        return [d.EndRun(now, "failed", error=output)]
    return [d.EndRun(now, "completed", output.value, missing=output.missing)]


def handled_failure(flow: FlowProgram, node: str, failure: TaskFailed, attempts: int) -> Executed | None:
    """The outputs that the node's `on_error` makes of its failure; None if it does not handle it."""
    on_error = flow.nodes[node].definition.on_error
    if on_error is None:
        return None
    error: JsonObject = {"node": node, "type": failure.type, "message": failure.message, "attempts": attempts}
    if failure.calls != 1:
        error["calls"] = failure.calls
    if on_error == "route":
        return Executed({ERROR: error}, ERROR, failure)
    branch = on_error.default.get("_branch")
    outputs = {key: value for key, value in on_error.default.items() if key not in CONTROL_KEYS}
    return Executed({**outputs, ERROR: error}, branch if isinstance(branch, str) else None, failure)


def _executed(
    flow: FlowProgram,
    state: RunState,
    token: Token,
    executed: Executed,
    *,
    waited: bool = False,
    ends: TokenEnd = "completed",
) -> list[d.Decision]:
    settled = settle_executed(flow, state.flow, token.node, executed)
    done = d.ExecuteNode(token.id, token.node, executed, settled.dead_end, waited)
    return [done, d.RouteToken(token.id, token.node, ends), *_onward(state, settled, token)]


def _failed(flow: FlowProgram, state: RunState, token: Token, failure: TaskFailed, now: int) -> list[d.Decision]:
    ends: TokenEnd = "timed_out" if failure.type == "timed_out" else "failed"
    handled = handled_failure(flow, token.node, failure, token.attempt)
    if handled is not None:
        return _executed(flow, state, token, handled, ends=ends)
    broken = d.BreakNode(token.id, token.node, failure)
    if flow.flow.on_error == "fail":
        details, attempts = _details(failure), token.attempt
        error = RunError(
            failure.type, failure.message, token.node, token.id, failure.step, attempts, details, failure.calls
        )
        return [broken, *end_run(state, now, "failed", error, failing=token, ends=ends)]
    settled = settle_failed(flow, state.flow, token.node)
    return [broken, d.RouteToken(token.id, token.node, ends), *_onward(state, settled, token)]


def _details(failure: TaskFailed) -> JsonObject | None:
    return None if failure.stack is None else {"stack": failure.stack}


def _onward(state: RunState, settled: Settled, source: Token | None) -> list[d.Decision]:
    first = state.head.next_token
    parent = None if source is None else source.id
    created = [d.CreateToken(TokenId(first + i), node, ROOT_PATH, parent) for i, node in enumerate(settled.ready)]
    if not (settled.skipped or settled.ready or settled.remaining):
        return []
    return [d.SettleNodes(settled.skipped, settled.ready, settled.remaining), *created]
