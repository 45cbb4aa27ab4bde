"""One call of a tool, from its pin to its result: it may ask people, or be a task that is polled. Imports the SDK.

What must survive until the call goes on is its state: the server's `requestState`, or the id of its task.
"""

import mcp_types as types
import msgspec
from msgspec import UNSET, UnsetType

from jeton.executor.action import ActionCall, ActionFailed, ActionResult
from jeton.executor.mcp.client import Connection
from jeton.executor.mcp.errors import Denied, Refusal, TimedOut, Unavailable
from jeton.executor.mcp.pinning import redacted
from jeton.executor.mcp.pins import pin_of
from jeton.executor.mcp.questions import question_of, responses_to
from jeton.executor.mcp.results import result_value
from jeton.executor.mcp.settings import ServerSettings
from jeton.executor.mcp.tasks import TaskCreated, TaskState
from jeton.model.definition.task import AsksInput, Suspended
from jeton.model.json import Json, JsonObject
from jeton.model.note import ProgressNote
from jeton.model.storable import valid_text

MAX_DESCRIBED_BYTES = 262_144
SHORTEST_POLL_MS = 500
LONGEST_POLL_MS = 60_000
MAX_ROUNDS = 100  # of questions, and of "not yet" without a task


class ToolCall(msgspec.Struct, frozen=True):
    """A tool of a server, its arguments, and the limits of the call."""

    server: str
    tool: str
    settings: ServerSettings
    arguments: JsonObject
    max_result_bytes: int
    answer_timeout_ms: int | None
    task_timeout_ms: int

    @property
    def who(self) -> str:
        return f"MCP server '{self.server}', tool '{self.tool}'"


class Progress(msgspec.Struct, frozen=True, omit_defaults=True):
    """How far a call has got, as it is kept between two deliveries of its task."""

    round: int = 0  # of questions and polls
    request_state: str | None = None
    asked: JsonObject | None = None  # by key: the form of each question that is open
    task: str | None = None
    since: int = 0  # when the task was made


async def make_call(connection: Connection, tool: ToolCall, call: ActionCall) -> ActionResult:
    """The result of the tool, its failure, what it asks, or when to look again."""
    try:
        left = call.continuation
        if left is None or left.state is None:
            return await _called(connection, tool, call, Progress(), None)
        progress = msgspec.convert(left.state, Progress)
        return await _continued(connection, tool, call, progress, left.answer)
    except Denied as denied:
        return ActionFailed("mcp_request_denied", valid_text(str(denied)))
    except Unavailable as problem:
        return ActionFailed("mcp_unavailable", f"{tool.who}: {problem}", transient=True)
    except TimedOut:
        waited = tool.settings.timeout_ms
        return ActionFailed("mcp_timeout", f"{tool.who}: no answer within {waited} ms", transient=True)
    except Refusal as refusal:
        return ActionFailed("mcp_protocol", f"{tool.who}: {refusal}")


async def _pin_problem(connection: Connection, tool: ToolCall, call: ActionCall) -> ActionFailed | None:
    """Why the tool may not be called: it is not there, not exposed, or not what it was. The first call pins it."""
    exposed = tool.settings.expose
    if exposed is not None and tool.tool not in exposed:
        return ActionFailed("mcp_unknown_tool", f"{tool.who}: the project's settings do not expose it")
    found = await connection.tool(tool.tool, _timeout_s(tool))
    if found is None:
        return ActionFailed("mcp_unknown_tool", f"{tool.who}: the server has no such tool")
    now = pin_of(tool.server, *redacted(found, call.secrets), call.resources.wall_clock())
    if len(now.described) > MAX_DESCRIBED_BYTES:
        size = f"{len(now.described)} bytes, more than {MAX_DESCRIBED_BYTES}"
        return ActionFailed("too_large", f"{tool.who}: its description and schema have {size}")
    held = await call.resources.pins.put(now)
    if held.hash == now.hash:
        return None
    problem = "its description or its input schema is not what it was when it was pinned"
    remedy = f"look at what changed with `jeton mcp pins`, and accept it with `jeton mcp pin {tool.server} {tool.tool}`"
    return ActionFailed("mcp_tool_changed", f"{tool.who}: {problem}; {remedy}")


async def _called(
    connection: Connection,
    tool: ToolCall,
    call: ActionCall,
    progress: Progress,
    responses: types.InputResponses | None,
) -> ActionResult:
    """Make the call, for the first time or again, if the tool is what it was."""
    problem = await _pin_problem(connection, tool, call)
    if problem is not None:
        return problem
    found = await connection.call(
        tool.tool,
        tool.arguments,
        _timeout_s(tool),
        key=call.call.idempotency_key,
        responses=responses,
        request_state=progress.request_state,
        progress=lambda done, total, text: _report(call, done, total, text),
    )
    now, number = call.resources.wall_clock(), progress.round + 1
    match found:
        case types.CallToolResult():
            return await result_value(found, call, tool.max_result_bytes)
        case TaskCreated(task_id=task, poll_interval_ms=poll):
            return await _later(connection, tool, call, Progress(number, task=task, since=now), poll)
        case types.InputRequiredResult(input_requests=requests, request_state=state):
            if number > MAX_ROUNDS:
                return ActionFailed("mcp_protocol", f"{tool.who}: it asked {MAX_ROUNDS} times")
            if requests:
                return _asks(tool, requests, Progress(number, state))
            return await _later(connection, tool, call, Progress(number, state), None)


async def _continued(
    connection: Connection, tool: ToolCall, call: ActionCall, progress: Progress, answer: Json | UnsetType
) -> ActionResult:
    """Go on with a call that asked, or was told to come again, or has become a task."""
    responses = None
    if progress.asked is not None and not isinstance(answer, UnsetType):
        responses = responses_to(progress.asked, answer)
    task = progress.task
    if task is None:
        return await _called(connection, tool, call, progress, responses)
    if responses is not None:
        await connection.tell_task(task, responses, _timeout_s(tool))
        progress = msgspec.structs.replace(progress, asked=None)
    return await _polled(connection, tool, call, progress, task)


async def _polled(
    connection: Connection, tool: ToolCall, call: ActionCall, progress: Progress, task: str
) -> ActionResult:
    found = await connection.task(task, _timeout_s(tool))
    progress = msgspec.structs.replace(progress, round=progress.round + 1)
    match found.status:
        case "completed":
            result = types.CallToolResult.model_validate(found.result or {"content": []})
            return await result_value(result, call, tool.max_result_bytes)
        case "failed" | "cancelled":
            return ActionFailed("mcp_task_failed", f"{tool.who}: its task {_end(found)}")
        case "input_required" if found.input_requests:
            return _asks(tool, found.input_requests, progress)
        case _:
            if call.resources.wall_clock() - progress.since > tool.task_timeout_ms:
                waited = f"{tool.task_timeout_ms} ms"
                return ActionFailed("mcp_timeout", f"{tool.who}: its task was not done within {waited}")
            if found.status_message:
                call.report(ProgressNote(call.call.step, None, valid_text(found.status_message)))
            return await _later(connection, tool, call, progress, found.poll_interval_ms)


def _end(task: TaskState) -> str:
    said = (task.error or {}).get("message") or task.status_message or ""
    end = "was cancelled" if task.status == "cancelled" else "failed"
    return f"{end}: {valid_text(str(said))}" if said else end


def _asks(tool: ToolCall, requests: types.InputRequests, progress: Progress) -> AsksInput:
    title, schema, asked = question_of(requests, tool.who)
    state = _state(msgspec.structs.replace(progress, asked=asked))
    return AsksInput(valid_text(title), schema, state, tool.answer_timeout_ms)


async def _later(
    connection: Connection, tool: ToolCall, call: ActionCall, progress: Progress, poll_ms: int | None
) -> ActionResult:
    """Look again after a while: the task sleeps, or, if others depend on it, its worker waits."""
    backoff = SHORTEST_POLL_MS << min(progress.round, 7)
    wait = min(max(poll_ms or backoff, SHORTEST_POLL_MS), LONGEST_POLL_MS)
    if call.may_suspend:
        until = call.resources.wall_clock() + wait
        return Suspended(until, f"mcp {call.call.attempt}.{progress.round}", _state(progress))
    await call.resources.clock.sleep(wait)
    return await _continued(connection, tool, call, progress, UNSET)


def _state(progress: Progress) -> Json:
    kept: Json = msgspec.to_builtins(progress)
    return kept


def _timeout_s(tool: ToolCall) -> float:
    return tool.settings.timeout_ms / 1000


def _report(call: ActionCall, done: float, total: float | None, text: str | None) -> None:
    share = done / total if total else None
    inside = share if share is not None and 0 <= share <= 1 else None
    call.report(ProgressNote(call.call.step, inside, valid_text(text or "")))
