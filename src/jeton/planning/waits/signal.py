"""Signals: each wakes the oldest waiter whose schema it fits, or is kept until one waits."""

from difflib import get_close_matches
from heapq import merge
from itertools import repeat

from jeton.expression import Expression
from jeton.model.decision import Decision, KeepSignal, ReplyTo, TakeSignal, WaitForSignal
from jeton.model.definition.workflow import WaitTarget
from jeton.model.failure import BrokenInvariant, TaskFailed
from jeton.model.json import Json
from jeton.model.message import SignalRun
from jeton.model.state.phase import WaitingForSignal
from jeton.model.state.run import RunState, Token
from jeton.planning.program.workflow import CompiledNode, Program
from jeton.planning.schema_problem import schema_problem
from jeton.planning.tokens.failure import plan_failure
from jeton.planning.tokens.node import Plan, plan_success, wait_timeout
from jeton.planning.tokens.scope import scope_of


def plan_signal_wait(program: Program, state: RunState, token: Token, missing: tuple[str, ...], now: int) -> Plan:
    """Take the oldest kept signal that fits, or wait."""
    node, target = program.nodes[token.node], _target(program, token)
    kept = (zip(state.signals.get(name, ()), repeat(name)) for name in node.signals)
    for number, name in merge(*kept):
        value = state.signals[name][number].value
        if _value_problem(node, name, value) is None:
            plan = plan_success(program, state, token, signal_result(target, name, value), now, missing)
            return Plan([TakeSignal(token.id, name, number), *plan.decisions], plan.then)
    timeout = node.timeout
    if isinstance(timeout, Expression):
        found = wait_timeout(timeout, scope_of(program, state, token))
        if isinstance(found, TaskFailed):
            return Plan(plan_failure(program, state, token, found, now))
        timeout = found
    deadline = None if timeout is None else now + timeout
    names = () if target.signal is not None else tuple(node.signals)
    return Plan([WaitForSignal(token.id, token.node, now, target.signal or "", deadline, target.label, missing, names)])


def plan_signal(program: Program, state: RunState, message: SignalRun) -> Plan:
    """Give a signal to a waiter, keep it, or refuse it. A second signal with the same key changes nothing."""
    if message.key is not None and message.key in state.heard:
        return Plan([ReplyTo(message.id, accepted=True, why=f"the key '{message.key}' was received before")])
    if message.name not in program.hearers:
        return Plan([_unknown(program, message)])
    why = None
    for token in (state.tokens[waiter] for waiter in state.waiters.get(message.name, ())):
        problem = _value_problem(program.nodes[token.node], message.name, message.value)
        if problem is None:
            return _wake(program, state, token, message)
        why = why or problem
    if why is None:
        why = _fits_nowhere(program, message)
    if why is not None:
        return Plan([ReplyTo(message.id, accepted=False, why=why)])
    return Plan([_kept(state, message), ReplyTo(message.id, accepted=True, why="kept until somebody waits for it")])


def plan_signal_timeout(program: Program, state: RunState, token: Token, now: int) -> Plan:
    """Fail a wait whose signal did not come in time, or continue with the value defined for this case."""
    target = _target(program, token)
    if target.on_timeout != "fail":
        return plan_success(program, state, token, target.on_timeout, now)
    which = f"signal '{target.signal}'" if target.signal is not None else f"signal of {', '.join(target.signals)}"
    failure = TaskFailed("timed_out", f"no {which} came within {_allowed(token)} ms")
    return Plan(plan_failure(program, state, token, failure, now))


def _allowed(token: Token) -> int:
    """The time that was waited at most."""
    phase = token.phase
    return phase.deadline - phase.since if isinstance(phase, WaitingForSignal) and phase.deadline is not None else 0


def signal_result(target: WaitTarget, name: str, value: Json) -> Json:
    """The result of a wait: the value, or with its name if it is the first of several signals."""
    return value if target.signal is not None else {"signal": name, "value": value}


def _wake(program: Program, state: RunState, token: Token, message: SignalRun) -> Plan:
    kept = _kept(state, message)
    result = signal_result(_target(program, token), message.name, message.value)
    plan = plan_success(program, state, token, result, message.at)
    taken: list[Decision] = [kept, TakeSignal(token.id, kept.name, kept.number), ReplyTo(message.id, accepted=True)]
    return Plan([*taken, *plan.decisions], plan.then)


def _kept(state: RunState, message: SignalRun) -> KeepSignal:
    return KeepSignal(state.head.next_signal, message.name, message.at, message.value, message.key)


def _unknown(program: Program, message: SignalRun) -> ReplyTo:
    """Refuse a signal that no node of the workflow waits for: nobody would ever take it."""
    name, workflow, known = message.name, program.workflow.name, program.hearers
    if not known:
        why = f"'{workflow}' waits for no signals, and '{name}' would never be taken"
        remedy = "check the run, or answer its gate"
    else:
        nearest = get_close_matches(name, known, n=1)
        why = f"no node of '{workflow}' waits for a signal '{name}'"
        remedy = f"write '{nearest[0]}'" if nearest else f"it waits for: {', '.join(known)}"
    return ReplyTo(message.id, accepted=False, why=why, code="unknown_signal", remedy=remedy)


def _fits_nowhere(program: Program, message: SignalRun) -> str | None:
    """Why no node that waits for this signal would accept the value; None if one would."""
    nodes = [program.nodes[name] for name in program.hearers[message.name]]
    problems = [_value_problem(node, message.name, message.value) for node in nodes]
    return problems[0] if all(problems) else None


def _value_problem(node: CompiledNode, name: str, value: Json) -> str | None:
    return schema_problem(node.signals[name], value, "signal")


def _target(program: Program, token: Token) -> WaitTarget:
    target = program.nodes[token.node].definition.target
    if not isinstance(target, WaitTarget):
        raise BrokenInvariant("the node does not wait for a signal", node=token.node)
    return target
