"""Gates: an answer is taken, kept because it is early, or refused with a reason."""

from jeton.expression import Expression
from jeton.expression.schema import compile_schema
from jeton.expression.templates.template import TemplateProblem
from jeton.model.decision import ContinueTask, Decision, KeepAnswer, OpenGate, ReplyTo, TakeAnswer, TimeOutGate
from jeton.model.definition.workflow import GateTarget
from jeton.model.failure import BrokenInvariant, TaskFailed
from jeton.model.ids import ROOT_PATH
from jeton.model.json import Json, JsonObject, Schema
from jeton.model.message import AnswerGate
from jeton.model.state.phase import Asking, GateAnswer, WaitingForGate
from jeton.model.state.run import RunState, Token
from jeton.planning.program.workflow import Program
from jeton.planning.schema_problem import schema_problem
from jeton.planning.tokens.failure import plan_failure
from jeton.planning.tokens.node import Plan, plan_success, task_timeout, wait_timeout
from jeton.planning.tokens.scope import scope_of
from jeton.planning.turns.approval import addressed, plan_approval, plan_approval_timeout
from jeton.planning.turns.places import program_at

CLOSED = "the gate is closed"


def plan_gate(
    program: Program,
    state: RunState,
    token: Token,
    missing: tuple[str, ...],
    now: int,
    names: JsonObject | None = None,
) -> Plan:
    """Open a gate, and take early answers. `names`: the variables of its title."""
    node = program.nodes[token.node]
    target = _target(program, token.node)
    try:
        title = node.text.render(names or scope_of(program, state, token))
    except TemplateProblem as problem:
        failure = TaskFailed("template_error", f"the gate's title: {problem.message}")
        return Plan(plan_failure(program, state, token, failure, now))
    timeout = node.timeout
    if isinstance(timeout, Expression):
        found = wait_timeout(timeout, names or scope_of(program, state, token))
        if isinstance(found, TaskFailed):
            return Plan(plan_failure(program, state, token, found, now))
        timeout = found
    deadline = None if timeout is None else now + timeout
    decisions: list[Decision] = [OpenGate(token.id, token.node, now, title, deadline, missing)]
    taken: tuple[GateAnswer, ...] = ()
    for number, early in state.early.items():
        if (early.node, early.path) != (token.node, token.path) or len(taken) == target.approvals:
            continue
        if _refusal(program, token.node, taken, early.answer) is None:
            taken = (*taken, early.answer)
            decisions.append(TakeAnswer(token.id, token.node, early.answer, number))
    return _enough(program, state, token, decisions, taken, now)


def plan_answer(program: Program, state: RunState, message: AnswerGate) -> Plan:
    """Take, keep or refuse an answer, and reply to its sender."""
    if program.talk is not None:
        asks = addressed(state, message)
        if asks is not None and isinstance(asks.phase, Asking):
            return _plan_input(program, state, asks, asks.phase.schema, message)
        return Plan(plan_approval(program, state, message))
    answer = GateAnswer(message.value, message.by)
    token = _addressed(state, message)
    if token is None and message.node is not None:
        return Plan(_plan_early(program, state, message, message.node, answer))
    if token is None or not isinstance(token.phase, WaitingForGate):
        return Plan([ReplyTo(message.id, accepted=False, why=CLOSED)])
    if isinstance(token.phase, Asking):
        return _plan_input(program, state, token, token.phase.schema, message)
    why = _refusal(program, token.node, token.phase.answers, answer)
    if why is not None:
        return Plan([ReplyTo(message.id, accepted=False, why=why)])
    decisions: list[Decision] = [TakeAnswer(token.id, token.node, answer), ReplyTo(message.id, accepted=True)]
    return _enough(program, state, token, decisions, (*token.phase.answers, answer), message.at)


def _plan_input(program: Program, state: RunState, token: Token, schema: Schema | None, message: AnswerGate) -> Plan:
    """Continue a task with the answer to its question, or refuse the answer."""
    why = schema_problem(compile_schema(schema), message.value, "answer")
    if why is not None:
        return Plan([ReplyTo(message.id, accepted=False, why=why)])
    taken: list[Decision] = [TakeAnswer(token.id, token.node, GateAnswer(message.value, message.by))]
    taken.append(ReplyTo(message.id, accepted=True))
    allowed, now = task_timeout(program_at(program, state, token), state, token.node, token.input), message.at
    if isinstance(allowed, TaskFailed):
        return Plan([*taken, *plan_failure(program, state, token, allowed, now)])
    paused = state.head.paused
    return Plan([*taken, ContinueTask(token.id, token.node, now, now + allowed, token.attempt, paused)])


def plan_gate_timeout(program: Program, state: RunState, token: Token, now: int) -> Plan:
    """Fail the node of a gate that timed out, or continue with the answer defined for this case."""
    over = TimeOutGate(token.id, token.node)
    if isinstance(token.phase, Asking):
        failure = TaskFailed("timed_out", f"what the task asked was not answered within {_allowed(token)} ms")
        return Plan([over, *plan_failure(program, state, token, failure, now)])
    if program.talk is not None:
        return Plan(plan_approval_timeout(program, state, token, now))
    target = _target(program, token.node)
    if target.on_timeout == "fail":
        failure = TaskFailed("timed_out", f"the gate was not answered within {_allowed(token)} ms")
        return Plan([over, *plan_failure(program, state, token, failure, now)])
    plan = plan_success(program, state, token, target.on_timeout, now)
    return Plan([over, *plan.decisions], plan.then)


def _allowed(token: Token) -> int:
    """The time that a gate was open at most."""
    phase = token.phase
    return phase.deadline - phase.since if isinstance(phase, WaitingForGate) and phase.deadline is not None else 0


def _addressed(state: RunState, message: AnswerGate) -> Token | None:
    if message.token is not None:
        return state.tokens.get(message.token)
    path = message.path or ROOT_PATH
    for token in state.tokens.values():
        if token.node == message.node and token.path == path and isinstance(token.phase, WaitingForGate):
            return token
    return None


def _plan_early(
    program: Program, state: RunState, message: AnswerGate, node: str, answer: GateAnswer
) -> list[Decision]:
    found = program.nodes.get(node)
    if found is None or not isinstance(found.definition.target, GateTarget):
        return [ReplyTo(message.id, accepted=False, why=f"there is no gate at '{node}'")]
    why = _refusal(program, node, (), answer)
    if why is not None:
        return [ReplyTo(message.id, accepted=False, why=why)]
    kept = KeepAnswer(state.head.next_early, node, message.path or ROOT_PATH, answer)
    return [kept, ReplyTo(message.id, accepted=True, why="kept until the gate opens")]


def _refusal(program: Program, node: str, taken: tuple[GateAnswer, ...], answer: GateAnswer) -> str | None:
    """Why the gate refuses this answer; None if it accepts it."""
    target = _target(program, node)
    if target.assignees and answer.by is not None and answer.by not in target.assignees:
        return f"'{answer.by}' is not asked here: {', '.join(target.assignees)}"
    if target.approvals > 1 and answer.by is None:
        return f"{target.approvals} different people must answer: say who you are"
    if target.approvals > 1 and any(other.by == answer.by for other in taken):
        return f"'{answer.by}' has answered already"
    return schema_problem(program.nodes[node].validator, answer.value, "answer")


def _enough(
    program: Program,
    state: RunState,
    token: Token,
    decisions: list[Decision],
    taken: tuple[GateAnswer, ...],
    now: int,
) -> Plan:
    """Continue with the token if the answers are enough."""
    needed = _target(program, token.node).approvals
    if len(taken) < needed:
        return Plan(decisions)
    result: Json = taken[0].value if needed == 1 else [answer.value for answer in taken]
    plan = plan_success(program, state, token, result, now)
    return Plan([*decisions, *plan.decisions], plan.then)


def _target(program: Program, node: str) -> GateTarget:
    target = program.nodes[node].definition.target
    if not isinstance(target, GateTarget):
        raise BrokenInvariant("the node is not a gate", node=node)
    return target
