"""Open gates, and which of them an answer is for."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from jeton.actor.rows import GateRow
from jeton.model.definition.agent import Approval
from jeton.model.definition.workflow import GateTarget, Workflow
from jeton.model.failure import Refused
from jeton.model.ids import RunId, TokenId, gate_id
from jeton.model.json import Json, Schema
from jeton.model.times import maybe_moment, moment
from jeton.planning.program.talk import APPROVAL_SCHEMA, BUDGET_SCHEMA, approval_of
from jeton.planning.program.workflow import Program
from jeton.planning.turns.places import kind_of_node

MAX_LISTED = 10

_schema = msgspec.json.Decoder(dict[str, Any]).decode


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
    answered_by: tuple[str, ...] = ()  # those who gave their names, in the order of their answers
    input: Json | UnsetType = UNSET  # of a tool call that waits for approval


def gate_view(row: GateRow, workflow: Workflow, answered_by: tuple[str, ...] = ()) -> GateView:
    """The view of a gate. The question comes from the run's own version of the workflow."""
    target = workflow.nodes[row.node].target
    assert isinstance(target, GateTarget), "gate rows are of gate nodes"
    found = _view(row, target.schema, target.assignees, target.approvals)
    return msgspec.structs.replace(found, answered_by=answered_by) if answered_by else found


def question_view(row: GateRow, schema: str) -> GateView:
    """The view of what a task asks: anybody may answer, once."""
    return _view(row, _schema(schema) or None, (), 1)


def approval_view(row: GateRow, program: Program, input: Json) -> GateView:
    """The view of an approval: the tool, and the exact input it would be called with."""
    if kind_of_node(row.node) == "budget":
        return _view(row, BUDGET_SCHEMA, (), 1)
    tool = None if program.talk is None else program.talk.tools.get(row.node.removeprefix("tool:"))
    approval = Approval() if tool is None else approval_of(tool)
    return _view(row, APPROVAL_SCHEMA, approval.assignees, approval.approvals, input)


def _view(
    row: GateRow, schema: Schema | None, assignees: tuple[str, ...], approvals: int, input: Json | UnsetType = UNSET
) -> GateView:
    return GateView(
        id=gate_id(row.run, row.token),
        run_id=row.run,
        node=row.node,
        path=row.path,
        title=row.title,
        schema=schema,
        assignees=assignees,
        approvals=approvals,
        answers=row.answers,
        since=moment(row.since),
        due=maybe_moment(row.due),
        input=input,
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
