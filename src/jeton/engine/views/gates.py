"""Open gates, and which of them an answer is for."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from jeton.actor.rows import GateRow
from jeton.model.definition.workflow import GateTarget, Workflow
from jeton.model.failure import Refused
from jeton.model.ids import RunId, TokenId, gate_id
from jeton.model.json import Schema
from jeton.model.times import maybe_moment, moment

MAX_LISTED = 10


class GateView(msgspec.Struct, frozen=True):
    """An open gate: the question, who is asked, and how many have answered."""

    id: str
    run_id: RunId
    node: str
    path: str
    title: str
    schema: Schema | None
    assignees: tuple[str, ...]
    approvals: int
    answers: int
    since: datetime
    due: datetime | None


def gate_view(row: GateRow, workflow: Workflow) -> GateView:
    """The view of a gate. The question comes from the run's own version of the workflow."""
    target = workflow.nodes[row.node].target
    assert isinstance(target, GateTarget), "gate rows are of gate nodes"
    return GateView(
        id=gate_id(row.run, row.token),
        run_id=row.run,
        node=row.node,
        path=row.path,
        title=row.title,
        schema=target.schema,
        assignees=target.assignees,
        approvals=target.approvals,
        answers=row.answers,
        since=moment(row.since),
        due=maybe_moment(row.due),
    )


def the_one_gate(run: str, gates: Sequence[GateView]) -> GateView:
    """The only open gate of the run, or else of the runs it called. Raises Refused if there is not exactly one."""
    own = [gate for gate in gates if gate.run_id == run] or list(gates)
    if not own:
        raise Refused("gate_closed", f"no gate of run {run} is open", "see what it waits for with explain")
    if len(own) > 1:
        listed = ", ".join(f"{gate.id} ({gate.title})" for gate in own[:MAX_LISTED])
        more = f" and {len(own) - MAX_LISTED} more" if len(own) > MAX_LISTED else ""
        raise Refused("which_gate", f"run {run} has {len(own)} open gates: {listed}{more}", "name one of them")
    return own[0]


def parts_of_gate(gate: str) -> tuple[RunId, TokenId]:
    """The run and the token in a gate's id."""
    run, colon, token = gate.rpartition(":")
    if not colon or not token.isdecimal():
        raise unknown_gate(gate)
    return RunId(run), TokenId(int(token))


def unknown_gate(gate: str) -> Refused:
    return Refused("unknown_gate", f"there is no gate '{gate}' here", "list the gates that are open")
