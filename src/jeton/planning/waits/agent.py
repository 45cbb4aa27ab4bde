"""Nodes that ask an agent: the chat message that goes to its conversation, and what the end of the turn means."""

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from jeton.expression import Expression, Failed, Missing
from jeton.expression.mapping import compile_value
from jeton.model.decision import AnswerCall, CallAgent, Decision, IgnoreLate, KeepAsync, RouteToken
from jeton.model.definition.workflow import AgentTarget
from jeton.model.failure import BrokenInvariant, RunError, TaskFailed
from jeton.model.ids import RunId, TokenId, child_run_id
from jeton.model.json import Json, JsonObject
from jeton.model.message import ChildEnded, TurnOver
from jeton.model.state.phase import WaitingForAgent
from jeton.model.state.run import RunState, Token, TokenEnd
from jeton.planning.program.workflow import Program
from jeton.planning.tokens.cancel import end_run
from jeton.planning.tokens.failure import plan_failure
from jeton.planning.tokens.node import Plan, expression_failure, plan_success, wait_timeout
from jeton.planning.tokens.scope import scope_of
from jeton.planning.turns.tools import answer_call, said_from


def plan_agent(
    program: Program,
    state: RunState,
    token: Token,
    given: Json | UnsetType,
    missing: tuple[str, ...],
    now: int,
    names: JsonObject | None = None,
) -> list[Decision]:
    """Ask an agent: in a conversation of its own, or in the one that the node's expression names."""
    node = program.nodes[token.node]
    target = node.definition.target
    if not isinstance(target, AgentTarget):
        raise BrokenInvariant("the node does not ask an agent", node=token.node)
    deepest = program.workflow.limits.max_depth
    if state.head.depth >= deepest:
        message = f"max_depth: agent '{target.agent}' would be asked {deepest + 1} levels below the root"
        return end_run(state, now, "failed", RunError("limit_exceeded", message, token.node, token.id), failing=token)
    scope = names or scope_of(program, state, token)
    timeout = node.timeout
    if isinstance(timeout, Expression):
        found = wait_timeout(timeout, scope)
        if isinstance(found, TaskFailed):
            return plan_failure(program, state, token, found, now)
        timeout = found
    conversation = _conversation(target, scope)
    if isinstance(conversation, TaskFailed):
        return plan_failure(program, state, token, conversation, now)
    said = said_from(state.input if given is UNSET else given, now, None)
    call = CallAgent(
        token.id,
        token.node,
        now,
        conversation or child_run_id(state.head.run, token.id),
        target.agent,
        said,
        conversation is None,
        target.output_schema,
        None if timeout is None else now + timeout,
        missing,
    )
    return [call]


def _conversation(target: AgentTarget, scope: JsonObject) -> RunId | TaskFailed | None:
    """The conversation to go on with; None for a new one."""
    if target.conversation is None:
        return None
    found = compile_value(target.conversation, tuple(scope)).evaluate(scope)
    if isinstance(found, Failed):
        return expression_failure("conversation", found)
    if found is None or isinstance(found, Missing):
        return None
    if not isinstance(found, str):
        return TaskFailed("input_invalid", "the agent's 'conversation' must be the id of one, which is a text")
    return RunId(found)


def plan_turn_over(program: Program, state: RunState, message: TurnOver) -> Plan:
    """Take the reply of an agent as the node's result, or the turn's failure as the node's."""
    token = state.tokens.get(message.token)
    if token is None or not isinstance(token.phase, WaitingForAgent):
        return _nobody_waits(message.token, message.conversation)
    if token.abandoned:
        ends: TokenEnd = "completed" if message.status == "completed" else "failed"
        late = IgnoreLate(token.id, token.attempt, "the branch was abandoned")
        return Plan([late, RouteToken(token.id, token.node, ends)])
    if message.status == "completed":
        result: JsonObject = {"text": message.text}
        if message.data is not None:
            result["data"] = message.data
        if program.talk is not None:
            return Plan(answer_call(program, state, token, result, tainted=message.tainted))
        return plan_success(program, state, token, result | {"conversation_id": message.conversation}, message.at)
    error = message.error
    kind, why = (message.status, message.status) if error is None else (error.type, error.message)
    failed = plan_failure(program, state, token, _no_answer(token.phase, kind, why), message.at)
    return Plan([_tainting(each) for each in failed] if message.tainted else failed)


def _tainting(decision: Decision) -> Decision:
    """The decision for the error of an agent that has read something untrusted, which may be in its words."""
    return replace(decision, taints=True) if isinstance(decision, AnswerCall | KeepAsync) else decision


def plan_conversation_ended(program: Program, state: RunState, token: Token, message: ChildEnded) -> Plan:
    """Fail a node whose conversation could not begin, or came to a contradiction. A turn that is over says so first."""
    phase = token.phase
    if not isinstance(phase, WaitingForAgent) or phase.conversation != message.child:
        return _nobody_waits(message.token, message.child)
    if token.abandoned:
        return Plan([RouteToken(token.id, token.node, "failed")])
    error = message.error
    kind, why = (message.status, message.status) if error is None else (error.type, error.message)
    return Plan(plan_failure(program, state, token, _no_answer(phase, kind, why), message.at))


def _no_answer(phase: WaitingForAgent, kind: str, why: str) -> TaskFailed:
    return TaskFailed(kind, f"agent '{phase.agent}' did not answer: {why}")


def _nobody_waits(token: TokenId, conversation: RunId) -> Plan:
    return Plan([IgnoreLate(token, 1, f"nobody waits for conversation {conversation} any more")])
