"""A run's record with the field names of other engines, for programs written for those.

`editor`: the execution rows of visual editors, with one current node and four statuses. `dataflow`: the execution state
of dataflow runtimes, in lists and maps by node.
"""

from typing import Literal, TypeAlias, assert_never

from jeton.engine.views.record import RunRecord
from jeton.model.json import Json, JsonObject
from jeton.model.state.flow_run import NodeView
from jeton.model.state.run import RunStatus
from jeton.model.times import text_of

Dialect: TypeAlias = Literal["editor", "dataflow"]

EDITOR: dict[RunStatus, str] = {
    "submitted": "RUNNING",
    "running": "RUNNING",
    "waiting": "WAITING",
    "completed": "SUCCESS",
    "failed": "FAILED",
    "cancelled": "FAILED",
    "timed_out": "FAILED",
    "exhausted": "FAILED",
}
DATAFLOW: dict[RunStatus, str] = {
    "submitted": "submitted",
    "running": "executing",
    "waiting": "executing",
    "completed": "completed",
    "failed": "error",
    "cancelled": "error",
    "timed_out": "error",
    "exhausted": "exhausted",
}


def in_dialect(record: RunRecord, dialect: Dialect) -> JsonObject:
    """The record in this dialect."""
    match dialect:
        case "editor":
            return _editor(record)
        case "dataflow":
            return _dataflow(record)
        case _:
            assert_never(dialect)


def _editor(record: RunRecord) -> JsonObject:
    """An execution row, which has room for one current node: the first."""
    return {
        "executionId": record.run_id,
        "workflowId": record.workflow,
        "status": EDITOR[record.status],
        "triggerType": "MANUAL_TRIGGER" if record.trigger_type == "manual" else record.trigger_type,
        "triggerDepth": record.trigger_depth,
        "currentNodeId": next(iter(record.current_nodes), None),
        "waitingAtNodeId": record.waiting_at_node,
        "nextStepAt": None if record.next_step_at is None else text_of(record.next_step_at),
        "completeAt": None if record.completed_at is None else text_of(record.completed_at),
        "output": record.output,
        "error": None if record.error is None else record.error.message,
        "errorStack": record.error_stack,
    }


def _dataflow(record: RunRecord) -> JsonObject:
    nodes = record.nodes
    executed = {node: view for node, view in nodes.items() if view.status == "completed"}
    errors: JsonObject = {node: view.error.message for node, view in nodes.items() if view.error is not None}
    executions: list[Json] = [_execution(node, view) for node, view in nodes.items()]
    return {
        "executionId": record.run_id,
        "workflowId": record.workflow,
        "status": DATAFLOW[record.status],
        "executedNodes": [*executed],
        "skippedNodes": [node for node, view in nodes.items() if view.status == "skipped"],
        "nodeErrors": errors,
        "nodeOutputs": {node: view.outputs for node, view in executed.items()},
        "nodeExecutions": executions,
        "error": None if record.error is None else record.error.message,
    }


def _execution(node: str, view: NodeView) -> JsonObject:
    found: JsonObject = {"nodeId": node, "status": view.status, "outputs": view.outputs}
    if view.error is not None:
        found["error"] = view.error.message
    if view.skip_reason is not None:
        found |= {"skipReason": view.skip_reason, "blockedBy": [*view.blocked_by]}
    return found
