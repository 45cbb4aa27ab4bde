"""Which tokens a new run begins with."""

from jeton.model.decision import BeginRun, CreateToken, Decision
from jeton.model.ids import ROOT_PATH, TokenId
from jeton.model.message import StartRun
from jeton.model.run import RunState
from jeton.planning.program import Program


def plan_start(program: Program, state: RunState, message: StartRun) -> list[Decision]:
    """One token at the initial node. A second start of the same run changes nothing."""
    if state.head.status != "submitted":
        return []
    workflow = program.workflow
    deadline = None if workflow.timeout_ms is None else message.at + workflow.timeout_ms
    return [
        BeginRun(message.at, message.input, deadline),
        CreateToken(TokenId(state.head.next_token), workflow.initial_node, ROOT_PATH),
    ]
