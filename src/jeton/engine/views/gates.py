"""Open gates as people see them, and which one an answer is for."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from jeton.actor.rows import GateRow
from jeton.model.definition.workflow import GateTarget, Workflow
from jeton.model.failure import Refused
from jeton.model.ids import RunId, TokenId, gate_id
from jeton.model.json import Schema
from jeton.model.times import maybe_moment, moment

MOST_LISTED = 10


class GateView(msgspec.Struct, frozen=True):
    """A gate that is open: what is asked, of whom, and how many have answered so far."""

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
    """What is asked comes from the definition the run began with, not from a newer one."""
    target = workflow.nodes[row.node].target
    assert isinstance(target, GateTarget), "only a gate is in the list of gates"
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
    """The gate that is meant when none is named: the run's own, else of a run it called; there must be one only."""
    own = [gate for gate in gates if gate.run_id == run] or list(gates)
    if not own:
        raise Refused("gate_closed", f"no gate of run {run} is open", "look at what it waits for: explain it")
    if len(own) > 1:
        listed = ", ".join(f"{gate.id} ({gate.title})" for gate in own[:MOST_LISTED])
        more = f" and {len(own) - MOST_LISTED} more" if len(own) > MOST_LISTED else ""
        raise Refused("which_gate", f"run {run} has {len(own)} open gates: {listed}{more}", "name one of them")
    return own[0]


def parts_of_gate(gate: str) -> tuple[RunId, TokenId]:
    """The run and the token that a gate's id names."""
    run, colon, token = gate.rpartition(":")
    if not colon or not token.isdecimal():
        raise unknown_gate(gate)
    return RunId(run), TokenId(int(token))


def unknown_gate(gate: str) -> Refused:
    return Refused("unknown_gate", f"there is no gate '{gate}' here", "list the gates that are open")
