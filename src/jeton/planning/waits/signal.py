"""Signals: each wakes the oldest waiter whose schema it fits, or is kept until one waits."""

from jeton.model.decision import Decision, KeepSignal, ReplyTo, TakeSignal, WaitForSignal
from jeton.model.definition.workflow import WaitTarget
from jeton.model.failure import BrokenInvariant, TaskFailed
from jeton.model.json import Json
from jeton.model.message import SignalRun
from jeton.model.state.run import RunState, Token
from jeton.planning.program.workflow import Program
from jeton.planning.schema_problem import schema_problem
from jeton.planning.tokens.failure import plan_failure
from jeton.planning.tokens.node import Plan, plan_success


def plan_signal_wait(program: Program, state: RunState, token: Token, missing: tuple[str, ...], now: int) -> Plan:
    """Take the oldest kept signal that fits, or wait."""
    target = _target(program, token)
    name = target.signal or ""
    for number, signal in state.signals.get(name, {}).items():
        if _value_problem(program, token.node, signal.value) is None:
            plan = plan_success(program, state, token, signal.value, now, missing)
            return Plan([TakeSignal(token.id, name, number), *plan.decisions], plan.then)
    deadline = None if target.timeout_ms is None else now + target.timeout_ms
    return Plan([WaitForSignal(token.id, token.node, now, name, deadline, target.label, missing)])


def plan_signal(program: Program, state: RunState, message: SignalRun) -> Plan:
    """Give a signal to a waiter, keep it, or refuse it. A second signal with the same key changes nothing."""
    if message.key is not None and message.key in state.heard:
        return Plan([ReplyTo(message.id, accepted=True, why=f"the key '{message.key}' was received before")])
    waiters = [state.tokens[token] for token in state.waiters.get(message.name, ())]
    why = None
    for token in waiters:
        problem = _value_problem(program, token.node, message.value)
        if problem is None:
            return _wake(program, state, token, message)
        why = why or problem
    if why is None:
        why = _fits_nowhere(program, message)
    if why is not None:
        return Plan([ReplyTo(message.id, accepted=False, why=why)])
    return Plan([_kept(state, message), ReplyTo(message.id, accepted=True, why="kept until somebody waits for it")])


def plan_signal_timeout(program: Program, state: RunState, token: Token, now: int) -> Plan:
    """Fail a wait whose signal did not come in time."""
    target = _target(program, token)
    failure = TaskFailed("timed_out", f"no signal '{target.signal}' came within {target.timeout_ms} ms")
    return Plan(plan_failure(program, state, token, failure, now))


def _wake(program: Program, state: RunState, token: Token, message: SignalRun) -> Plan:
    kept = _kept(state, message)
    plan = plan_success(program, state, token, message.value, message.at)
    taken: list[Decision] = [kept, TakeSignal(token.id, kept.name, kept.number), ReplyTo(message.id, accepted=True)]
    return Plan([*taken, *plan.decisions], plan.then)


def _kept(state: RunState, message: SignalRun) -> KeepSignal:
    return KeepSignal(state.head.next_signal, message.name, message.at, message.value, message.key)


def _fits_nowhere(program: Program, message: SignalRun) -> str | None:
    """Why no node that waits for this signal would accept the value; None if one would."""
    nodes = [
        node.name
        for node in program.nodes.values()
        if isinstance(node.definition.target, WaitTarget) and node.definition.target.signal == message.name
    ]
    problems = [_value_problem(program, node, message.value) for node in nodes]
    return problems[0] if problems and all(problems) else None


def _value_problem(program: Program, node: str, value: Json) -> str | None:
    return schema_problem(program.nodes[node].validator, value, "signal")


def _target(program: Program, token: Token) -> WaitTarget:
    target = program.nodes[token.node].definition.target
    if not isinstance(target, WaitTarget):
        raise BrokenInvariant("the node does not wait for a signal", node=token.node)
    return target
