"""What a run would decide if a token finished, failed or arrived: planned on a copy of the run."""

from typing import cast

import msgspec
from msgspec import UNSET, UnsetType

from jeton.actor.advance import LiveRun, advance, suppose
from jeton.engine.views.events import readable
from jeton.model.decision import Decision, ParkToken, RouteToken
from jeton.model.failure import Refused, RunError, TaskFailed
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.message import AnswerGate, ChildEnded, Message, SignalRun, TaskFinished
from jeton.model.state.phase import (
    Asking,
    Dispatched,
    Executing,
    WaitingForGate,
    WaitingForSignal,
    WaitingForSubworkflow,
)
from jeton.model.state.run import RunStatus, Token
from jeton.planning.program.workflow import Program
from jeton.planning.tokens.failure import plan_failure
from jeton.planning.tokens.node import Plan, plan_success
from jeton.planning.tokens.routing import joined_group

SUPPOSED = "what-if"


class WhatIf(msgspec.Struct, frozen=True):
    """The decisions that would follow, in order, and the run's status after them."""

    run_id: RunId
    token: TokenId
    decisions: tuple[JsonObject, ...]
    status: RunStatus


def what_if(
    program: Program,
    run: LiveRun,
    token: int,
    now: int,
    *,
    result: Json | UnsetType = UNSET,
    failure: str | None = None,
    arrives_at: str | None = None,
) -> WhatIf:
    """Plan on `run`, which must be a copy: it is changed."""
    if sum((result is not UNSET, failure is not None, arrives_at is not None)) != 1:
        raise Refused("ambiguous", "give exactly one of result, failure and arrives_at", "give one of them")
    head = run.state.head
    found = run.state.tokens.get(TokenId(token))
    if found is None:
        problem = f"run {head.run} has no live token {token}"
        raise Refused("token_not_found", problem, "list the run's tokens")
    if arrives_at is not None:
        decisions = suppose(program, run, _arrival(program, run, found, arrives_at), now)
    else:
        given = None if isinstance(result, UnsetType) else result
        decisions = _finished(program, run, found, given, failure, now)
    return WhatIf(head.run, found.id, tuple(map(_plain, decisions)), head.status)


def _finished(
    program: Program, run: LiveRun, token: Token, result: Json, failure: str | None, now: int
) -> tuple[Decision, ...]:
    failed = None if failure is None else TaskFailed("supposed", failure)
    message: Message
    match token.phase:
        case Dispatched() | Executing():
            if failed is None:
                message = TaskFinished(now, token.id, token.attempt, result)
            else:
                message = TaskFinished(now, token.id, token.attempt, failure=failed)
        case WaitingForSubworkflow(child=child):
            error = None if failed is None else RunError(failed.type, failed.message)
            message = ChildEnded(now, token.id, child, "completed" if error is None else "failed", result, error)
        case WaitingForGate() if failed is None and not isinstance(token.phase, Asking):
            message = AnswerGate(now, SUPPOSED, result, token=token.id)
        case WaitingForSignal(names=()) if failed is None:
            message = SignalRun(now, SUPPOSED, token.phase.name, result)
        case _:  # no message says so from outside
            if failed is not None:
                return suppose(program, run, Plan(plan_failure(program, run.state, token, failed, now)), now)
            return suppose(program, run, plan_success(program, run.state, token, result, now), now)
    entry = advance(program, run, [message]).entry
    return () if entry is None else entry.decisions


def _arrival(program: Program, run: LiveRun, token: Token, node: str) -> Plan:
    """The plan if the node finished without output, and a transition into the fan-in matched."""
    into = [way for way in program.transitions if way.target == node and way.synchronization is not None]
    for way in sorted(into, key=lambda way: program.workflow.transitions[way.index].source != token.node):
        group = joined_group(run.state, token.slot, way)
        if group is not None:
            return Plan([RouteToken(token.id, token.node), ParkToken(token.id, group, node, way.index)])
    problem = f"there is no fan-in at '{node}' that waits for token {token.id}"
    raise Refused("no_fan_in", problem, "name the node that a transition with `synchronization` leads to")


def _plain(decision: Decision) -> JsonObject:
    return readable(cast("JsonObject", msgspec.to_builtins(decision, str_keys=True)))
