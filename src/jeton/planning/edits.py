"""Checks of the writes that a fork makes into the state."""

from jeton.model.failure import Refused
from jeton.model.json import Json
from jeton.model.state.run import RunState
from jeton.planning.program.workflow import Program
from jeton.planning.tokens.writes import state_problem


def check_edits(program: Program, state: RunState, writes: dict[str, Json]) -> None:
    """Refuse writes that no node could have made: other paths than `state` and `output`, or values outside the schema.

    A flow has no state to edit: everything in it follows from its input and its nodes' results."""
    if writes and program.flow is not None:
        edit, flow = next(iter(writes)), program.workflow.name
        refusal = f"'{edit}' cannot be edited: '{flow}' is a flow, and a flow has no state"
        raise Refused("bad_path", refusal, "fork it without edits, or start it anew with another input or overrides")
    for path in writes:
        section, _, below = path.partition(".")
        if section not in ("state", "output") or not all(below.split(".")):
            raise Refused("bad_path", f"'{path}' cannot be edited", "write 'state.NAME' or 'output.NAME'")
    problem = state_problem(program, state, writes)
    if problem is not None:
        raise Refused("state_invalid", problem, "write a value that fits the workflow's state_schema")
