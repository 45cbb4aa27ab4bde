"""The start of a run."""

from copy import copy

from jeton.expression import Expression
from jeton.expression.counts import NotACount, count_of
from jeton.model.decision import BeginRun, CreateToken, Decision, EndRun, OpenConversation
from jeton.model.failure import RunError
from jeton.model.ids import ROOT_PATH, TokenId
from jeton.model.message import CancelRun, StartRun
from jeton.model.state.run import RunState, facts_of
from jeton.planning.credits import purse_for
from jeton.planning.flow.progress import plan_flow_start
from jeton.planning.program.workflow import Program
from jeton.planning.schema_problem import schema_problem


def plan_start(program: Program, state: RunState, message: StartRun) -> list[Decision]:
    """Begin the run with one token at the initial node. A second start changes nothing."""
    if state.head.status != "submitted":
        return []
    workflow = program.workflow
    timeout = _timeout(program, state, message)
    deadline = message.at + timeout if isinstance(timeout, int) else None
    purse = purse_for(program, message)
    begin = BeginRun(
        message.at,
        message.input,
        deadline,
        message.parent,
        message.trigger,
        message.overrides,
        purse,
        program.default_state,
        message.key,
    )
    # any other input was checked before it was accepted; what a parent maps is checked here
    problem = None if message.parent is None else schema_problem(program.input_validator, message.input, "input")
    if problem is not None:
        return [begin, EndRun(message.at, "failed", error=RunError("input_invalid", problem))]
    if isinstance(timeout, NotACount):
        return [begin, EndRun(message.at, "failed", error=RunError(timeout.type, timeout.message))]
    if program.talk is not None:
        return [begin, OpenConversation(program.talk.agent)]
    if program.flow is not None:
        return [begin, *plan_flow_start(program.flow, state, message)]
    return [
        begin,
        CreateToken(TokenId(state.head.next_token), workflow.initial_node, ROOT_PATH),
    ]


def plan_cancelled_start(state: RunState, message: CancelRun) -> list[Decision]:
    """Begin a run that is cancelled at its start, for what its history says of it. Nothing of it is computed."""
    start = message.start
    if start is None or state.head.status != "submitted":
        return []
    return [BeginRun(message.at, start.input, trigger=start.trigger, overrides=start.overrides, key=start.key)]


def _timeout(program: Program, state: RunState, message: StartRun) -> int | NotACount | None:
    """How long the run may take."""
    if not isinstance(program.timeout, Expression):
        return program.timeout
    head = copy(state.head)
    head.started_at, head.key, head.parent, head.trigger = message.at, message.key, message.parent, message.trigger
    return count_of("timeout_ms", program.timeout, {"input": message.input, "run": facts_of(head)})
