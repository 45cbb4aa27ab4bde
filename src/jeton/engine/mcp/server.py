"""The engine as an MCP server: exposed workflows, flows and agents are tools. Imports the SDK.

Short work is answered at once. Work that takes longer is a task with the run's id, for clients that know tasks
(`io.modelcontextprotocol/tasks`); others get the id, and the tools `run_status`, `run_result` and `run_answer`. An open
gate is `input_required`; a client of an older protocol is asked in the middle of the call.
"""

import asyncio
import time
from collections.abc import Mapping
from typing import Any, Literal, cast

import mcp_types as types
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from jeton.engine.mcp.exposed import Exposed, ToolSpec, WorkState, unknown_work
from jeton.engine.mcp.forms import answer_in, form_of
from jeton.model.failure import Refused
from jeton.model.json import Json, JsonObject

TASKS = "io.modelcontextprotocol/tasks"
IDEMPOTENCY_KEY = "dev.jeton/idempotencyKey"
DEFAULT_WAIT_MS = 10_000
LOOK_S = 0.05
POLL_MS = 1_000
RUN_ID: JsonObject = {"type": "string", "description": "The id of the work."}
STATUS = ToolSpec(
    "run_status",
    "How far work has got that another tool started, and what it asks people.",
    {"type": "object", "properties": {"run_id": RUN_ID}, "required": ["run_id"]},
)
RESULT = ToolSpec(
    "run_result",
    "The result of work that another tool started, once it has one. Waits a few seconds for it.",
    {"type": "object", "properties": {"run_id": RUN_ID}, "required": ["run_id"]},
)
ANSWER = ToolSpec(
    "run_answer",
    "Answer what work asks a person. `gate` is needed if it asks several things.",
    {
        "type": "object",
        "properties": {"run_id": RUN_ID, "gate": {"type": "string"}, "value": {"description": "The answer."}},
        "required": ["run_id", "value"],
    },
)
OWN = {spec.name: spec for spec in (STATUS, RESULT, ANSWER)}

Context = ServerRequestContext[Any, Any]
CallResult = types.CallToolResult | types.InputRequiredResult | types.Result

_encode = msgspec.json.Encoder().encode


class CreatedTask(types.Result):
    """A task instead of a result."""

    result_type: Literal["task"] = "task"
    task_id: str
    status: str
    created_at: str
    last_updated_at: str
    ttl_ms: int | None = None
    poll_interval_ms: int = POLL_MS


class ShownTask(types.Result):
    """A task, with its result, its error, or what it asks."""

    result_type: Literal["complete"] = "complete"
    task_id: str
    status: str
    status_message: str | None = None
    created_at: str
    last_updated_at: str
    ttl_ms: int | None = None
    poll_interval_ms: int = POLL_MS
    input_requests: types.InputRequests | None = None
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None


class TaskParams(types.RequestParams):
    """Names a task, and answers what it asks."""

    task_id: str
    input_responses: types.InputResponses | None = None


class EngineServer:
    """The handlers of a server."""

    def __init__(self, exposed: Mapping[str, Exposed], wait_ms: int | None = None) -> None:
        taken = sorted(set(exposed) & set(OWN))
        if taken:
            problem = f"'{taken[0]}' is the name of a tool that every server has"
            raise Refused("bad_argument", problem, "rename what is exposed")
        self._exposed = exposed
        self._wait_s = (DEFAULT_WAIT_MS if wait_ms is None else wait_ms) / 1000

    def server(self, version: str) -> Server[Any]:
        """The SDK's server with these handlers."""
        made: Server[Any] = Server("jeton", version=version, on_list_tools=self.list_tools)
        made.extensions = {TASKS: {}}
        made.add_request_handler("tools/call", types.CallToolRequestParams, self.call)
        made.add_request_handler("tasks/get", TaskParams, self.get_task)
        made.add_request_handler("tasks/update", TaskParams, self.update_task)
        made.add_request_handler("tasks/cancel", TaskParams, self.cancel_task)
        return made

    async def list_tools(self, context: Context, params: object) -> types.ListToolsResult:
        """What is exposed, and the tools for work that takes long."""
        specs = [each.spec for each in self._exposed.values()] + ([*OWN.values()] if self._exposed else [])
        tools = [types.Tool(name=s.name, description=s.description, input_schema=s.input_schema) for s in specs]
        return types.ListToolsResult(tools=tools)

    async def call(self, context: Context, params: types.CallToolRequestParams) -> CallResult:
        """Call a tool: start work, or go on with what a call asked."""
        arguments = cast("JsonObject", params.arguments or {})
        try:
            if params.name in OWN:
                return await self._own(context, params.name, arguments)
            exposed = self._exposed.get(params.name)
            if exposed is None:
                raise MCPError(types.INVALID_PARAMS, f"there is no tool '{params.name}'")
            if params.request_state is not None:
                work = params.request_state
                await self._told(exposed, work, params.input_responses or {})
            else:
                key = (params.meta or {}).get(IDEMPOTENCY_KEY)
                work = await exposed.start(arguments, key if isinstance(key, str) else None)
            return await self._followed(context, exposed, work)
        except Refused as refused:
            return _error(f"{refused.code}: {refused.problem} ({refused.remedy})")

    async def _followed(self, context: Context, exposed: Exposed, work: str) -> CallResult:
        """The result of work, what it asks, or, if it takes long, the way to ask after it."""
        state = await self._waited(exposed, work)
        while state.status == "asking" and _asks_now(context):
            if not await self._ask_now(context, exposed, state):
                return _result(state)
            state = await self._waited(exposed, work)
        if state.status == "asking" and _can_ask(context):
            return types.InputRequiredResult(input_requests=_requests(state), request_state=work)
        if state.status in ("working", "asking") and _knows_tasks(context):
            return CreatedTask(task_id=work, status=_task_status(state), **_times(state))
        return _result(state)

    async def _waited(self, exposed: Exposed, work: str) -> WorkState:
        """The state of work once it ends or asks something, or after a while."""
        until = time.monotonic() + self._wait_s
        while True:
            state = await exposed.state(work)
            if state.status != "working" or time.monotonic() >= until:
                return state
            await asyncio.sleep(LOOK_S)

    async def _ask_now(self, context: Context, exposed: Exposed, state: WorkState) -> bool:
        """Ask in the middle of a call, as older protocols have it. False if nobody answers."""
        gate = state.gates[0]
        answer = await context.session.elicit_form(gate.title, form_of(gate.schema)[1], context.request_id)
        if answer.action != "accept":
            return False
        await exposed.answer(state.id, gate.id, answer_in(gate.schema, cast("JsonObject", answer.content or {})))
        return True

    async def _told(self, exposed: Exposed, work: str, responses: types.InputResponses) -> None:
        """Pass on answers. One that does not fit is asked for again, because its gate stays open."""
        gates = {gate.id: gate for gate in (await exposed.state(work)).gates}
        for name, response in responses.items():
            if name in gates and isinstance(response, types.ElicitResult) and response.action == "accept":
                content = cast("JsonObject", response.content or {})
                await exposed.answer(work, name, answer_in(gates[name].schema, content))

    # work that takes long

    def _of(self, work: str) -> list[Exposed]:
        return [exposed for exposed in self._exposed.values() if exposed.has(work)]

    async def _find(self, work: str) -> tuple[Exposed, WorkState]:
        """What the work is of, and its state. Raises Refused if it is of nothing that is exposed."""
        for exposed in self._of(work):
            try:
                return exposed, await exposed.state(work)
            except Refused as refused:
                if refused.code not in ("unknown_run", "not_a_conversation"):
                    raise
        raise unknown_work(work)

    async def _own(self, context: Context, tool: str, arguments: JsonObject) -> CallResult:
        work = arguments.get("run_id")
        if not isinstance(work, str):
            raise Refused("input_invalid", "'run_id' is missing", "give the id of the work")
        exposed, state = await self._find(work)
        match tool:
            case "run_status":
                return _value(_status(state))
            case "run_result":
                return _result(await self._waited(exposed, work))
            case _:
                gate = arguments.get("gate")
                asked = [each.id for each in state.gates if gate in (None, each.id)]
                if len(asked) != 1:
                    raise Refused("which_gate", f"the work asks {len(asked)} such things", "name one with 'gate'")
                await exposed.answer(work, asked[0], arguments.get("value"))
                return _result(await self._waited(exposed, work))

    async def get_task(self, context: Context, params: TaskParams) -> ShownTask:
        """How far a task has got."""
        try:
            _, state = await self._find(params.task_id)
        except Refused as refused:
            raise MCPError(types.INVALID_PARAMS, refused.problem) from None
        shown = ShownTask(task_id=state.id, status=_task_status(state), **_times(state))
        match state.status:
            case "asking":
                shown.input_requests = _requests(state)
            case "done" | "failed":
                result = _result(state)
                shown.result = result.model_dump(by_alias=True, mode="json", exclude_none=True)
            case _:
                shown.status_message = state.error
        return shown

    async def update_task(self, context: Context, params: TaskParams) -> types.EmptyResult:
        """Answer what a task asks."""
        try:
            exposed, state = await self._find(params.task_id)
            await self._told(exposed, state.id, params.input_responses or {})
        except Refused as refused:
            raise MCPError(types.INVALID_PARAMS, f"{refused.problem} ({refused.remedy})") from None
        return types.EmptyResult()

    async def cancel_task(self, context: Context, params: TaskParams) -> types.EmptyResult:
        """Cancel a task. One that has ended stays as it is."""
        try:
            exposed, state = await self._find(params.task_id)
            if state.status in ("working", "asking"):
                await exposed.cancel(state.id)
        except Refused as refused:
            raise MCPError(types.INVALID_PARAMS, refused.problem) from None
        return types.EmptyResult()


def _capabilities(context: Context) -> types.ClientCapabilities:
    return context.session.client_capabilities or types.ClientCapabilities()


def _is_modern(context: Context) -> bool:
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS


def _can_ask(context: Context) -> bool:
    return _is_modern(context) and _capabilities(context).elicitation is not None


def _asks_now(context: Context) -> bool:
    return not _is_modern(context) and _capabilities(context).elicitation is not None


def _knows_tasks(context: Context) -> bool:
    return _is_modern(context) and TASKS in (_capabilities(context).extensions or {})


def _requests(state: WorkState) -> types.InputRequests:
    return {
        gate.id: types.ElicitRequest(
            params=types.ElicitRequestFormParams(message=gate.title, requested_schema=form_of(gate.schema)[1])
        )
        for gate in state.gates
    }


def _task_status(state: WorkState) -> str:
    match state.status:
        case "asking":
            return "input_required"
        case "done" | "failed":
            return "completed"  # a tool that failed has a result that says so; "failed" is for the protocol
        case other:
            return other


def _times(state: WorkState) -> dict[str, Any]:
    when = state.since.isoformat().replace("+00:00", "Z")
    return {"created_at": when, "last_updated_at": when}


def _status(state: WorkState) -> JsonObject:
    shown: JsonObject = {"run_id": state.id, "status": state.status}
    if state.error is not None:
        shown["error"] = state.error
    if state.gates:
        shown["asks"] = [{"gate": gate.id, "title": gate.title, "schema": gate.schema} for gate in state.gates]
    return shown


def _result(state: WorkState) -> types.CallToolResult:
    match state.status:
        case "done":
            return _value(state.output)
        case "failed" | "cancelled":
            return _error(state.error or state.status)
        case _:
            hint = "call run_result with this run_id later"
            if state.status == "asking":
                hint = "a person must answer: call run_answer with this run_id"
            return _value({**_status(state), "next": hint})


def _value(value: Json) -> types.CallToolResult:
    """A result, as structured content and as text for clients that read only that."""
    structured = value if isinstance(value, dict) else {"result": value}
    text = value if isinstance(value, str) else _encode(value).decode()
    return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=structured)


def _error(problem: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=problem)], is_error=True)
