"""The start of a run."""

from jeton.model.decision import BeginRun, CreateToken, Decision, EndRun
from jeton.model.failure import RunError
from jeton.model.ids import ROOT_PATH, TokenId
from jeton.model.message import StartRun
from jeton.model.state.run import RunState
from jeton.planning.credits import purse_for
from jeton.planning.flow.progress import plan_flow_start
from jeton.planning.program.workflow import Program
from jeton.planning.schema_problem import schema_problem


def plan_start(program: Program, state: RunState, message: StartRun) -> list[Decision]:
    """Begin the run with one token at the initial node. A second start changes nothing."""
    if state.head.status != "submitted":
        return []
    workflow = program.workflow
    deadline = None if workflow.timeout_ms is None else message.at + workflow.timeout_ms
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
    if program.flow is not None:
        return [begin, *plan_flow_start(program.flow, state, message)]
    return [
        begin,
        CreateToken(TokenId(state.head.next_token), workflow.initial_node, ROOT_PATH),
    ]
