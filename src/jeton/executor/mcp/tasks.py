"""Long work of MCP servers: the extension `io.modelcontextprotocol/tasks`, as a client sees it. Imports the SDK."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from mcp.client import ClientExtension
from mcp.client.extension import ClaimContext, ResultClaim
from mcp_types import CallToolResult, InputRequests, InputResponses, Request, RequestParams, Result

EXTENSION = "io.modelcontextprotocol/tasks"
TaskStatus = Literal["working", "input_required", "completed", "failed", "cancelled"]


class TaskParams(RequestParams):
    """Names a task."""

    task_id: str


class UpdateParams(TaskParams):
    """Answers to what a task asks."""

    input_responses: InputResponses


class GetTask(Request[TaskParams, Literal["tasks/get"]]):
    """How far a task has got."""

    name_param: ClassVar[str | None] = "taskId"
    method: Literal["tasks/get"] = "tasks/get"
    params: TaskParams


class UpdateTask(Request[UpdateParams, Literal["tasks/update"]]):
    """Tell a task what it asked for."""

    name_param: ClassVar[str | None] = "taskId"
    method: Literal["tasks/update"] = "tasks/update"
    params: UpdateParams


class TaskCreated(Result):
    """A task instead of a result. What else is in it is not to be used."""

    result_type: Literal["task"] = "task"
    task_id: str
    status: TaskStatus
    poll_interval_ms: int | None = None


class TaskState(Result):
    """A task: at work, asking, or over with a result or an error."""

    task_id: str
    status: TaskStatus
    status_message: str | None = None
    poll_interval_ms: int | None = None
    input_requests: InputRequests | None = None
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None


class Acknowledged(Result):
    """Nothing but that it was heard."""


class TasksExtension(ClientExtension):
    """Says that this client can deal with tasks. They are polled by the run, not here."""

    identifier = EXTENSION

    def claims(self) -> Sequence[ResultClaim[Any]]:
        return (ResultClaim(result_type="task", model=TaskCreated, resolve=_unresolved),)


async def _unresolved(_created: TaskCreated, _context: ClaimContext) -> CallToolResult:
    raise RuntimeError("tasks are polled by the run")
