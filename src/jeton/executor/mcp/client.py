"""A connection to one MCP server. Imports the SDK, so it is imported when a server is first used.

The SDK's client lives in a task of its own, because it must be left where it was entered. Calls come from any task.
Requests of the server are refused: it gets no model, no roots, and nobody answers questions while a call runs. What a
server asks by `input_required` is answered by people, between two calls.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from contextvars import Context
from functools import partial
from typing import Any, TypeVar, cast

import anyio
import httpx2
import mcp_types as types
import msgspec
from mcp.client import Client
from mcp.client.session import ClientRequestContext
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from jeton.executor.mcp.errors import Refusal, TimedOut, Unavailable
from jeton.executor.mcp.stdio import Program
from jeton.executor.mcp.tasks import (
    Acknowledged,
    GetTask,
    TaskCreated,
    TaskParams,
    TasksExtension,
    TaskState,
    UpdateParams,
    UpdateTask,
)
from jeton.model.json import Json, JsonObject
from jeton.model.storable import valid_text

CONNECT_S = 30.0
CLOSE_S = 5.0
SLACK_S = 5.0  # on top of the SDK's own timeout, for a request that could not even be sent
MAX_PAGES = 100
MAX_TOOLS = 2_000
IDEMPOTENCY_KEY = "dev.jeton/idempotencyKey"


_T = TypeVar("_T")


class DescribedTool(msgspec.Struct, frozen=True):
    """A tool as its server describes it."""

    name: str
    description: str | None
    input_schema: JsonObject


class Connection:
    """A connection that is open, until `close` or until its server ends."""

    def __init__(self, name: str, program: Program | None) -> None:
        self._name = name
        self._program = program
        self._client: Client | None = None
        self._broken = False
        self._closing = asyncio.Event()
        self._life: asyncio.Task[None] | None = None

    @property
    def alive(self) -> bool:
        """Whether calls can be made, as far as is known."""
        ended = self._life is None or self._life.done() or (self._program is not None and not self._program.alive)
        return not (self._broken or ended)

    async def open(self, transport: AbstractAsyncContextManager[Any]) -> None:
        """Start the server or reach it, and agree on a protocol. Raises Unavailable."""
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._life = asyncio.create_task(self._live(transport, ready), context=Context())
        try:
            async with asyncio.timeout(CONNECT_S):
                await asyncio.shield(ready)
        except TimeoutError:
            await self.close()
            raise Unavailable(f"it did not answer within {CONNECT_S:.0f} s{self._last_words()}") from None
        except Exception as problem:
            await self.close()
            raise Unavailable(f"{_reason(problem)}{self._last_words()}") from None

    async def close(self) -> None:
        """End the connection, and the program behind it."""
        self._closing.set()
        if self._life is not None:
            done, _ = await asyncio.wait([self._life], timeout=CLOSE_S)
            if not done:
                self._life.cancel()
                await asyncio.wait([self._life], timeout=CLOSE_S)

    async def _live(self, transport: AbstractAsyncContextManager[Any], ready: asyncio.Future[None]) -> None:
        client = Client(
            transport,
            elicitation_callback=_decline,  # without one, no server would ask at all
            client_info=types.Implementation(name="jeton", version="1"),
            extensions=[TasksExtension()],
            cache=None,
        )
        closing = asyncio.create_task(self._closing.wait())
        try:
            async with client:
                self._client = client
                if not ready.done():
                    ready.set_result(None)
                await closing
        except BaseException as problem:
            if not ready.done():
                ready.set_exception(problem if isinstance(problem, Exception) else ConnectionError("it was stopped"))
                ready.exception()  # whoever waited may be gone
            elif not isinstance(problem, Exception):
                raise
        finally:
            closing.cancel()
            self._client = None

    def _last_words(self) -> str:
        if self._program is None:
            return ""
        said = self._program.problem or self._program.last_words
        return f": {said}" if said else ""

    # requests

    async def tool(self, name: str, timeout_s: float) -> DescribedTool | None:
        """The tool of that name, as the server describes it now; None if it has none."""
        for found in await self.tools(timeout_s, until=name):
            if found.name == name:
                return found
        return None

    async def tools(self, timeout_s: float, until: str | None = None) -> list[DescribedTool]:
        """All tools of the server, or those up to one."""
        found: list[DescribedTool] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await self._request(timeout_s, partial(_list_tools, cursor=cursor))
            found += [DescribedTool(tool.name, tool.description, tool.input_schema) for tool in page.tools]
            cursor = page.next_cursor
            if cursor is None or len(found) > MAX_TOOLS or any(tool.name == until for tool in page.tools):
                return found
        return found

    async def call(
        self,
        tool: str,
        arguments: JsonObject,
        timeout_s: float,
        *,
        key: str,
        responses: types.InputResponses | None = None,
        request_state: str | None = None,
        progress: Callable[[float, float | None, str | None], None] | None = None,
    ) -> types.CallToolResult | types.InputRequiredResult | TaskCreated:
        """Call a tool. `responses` and `request_state` continue a call that asked for input."""

        told = progress

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            if told is not None:
                told(progress, total, message)

        async def send(client: Client) -> types.Result:
            return await client.session.call_tool(
                tool,
                arguments,
                timeout_s,
                on_progress,
                input_responses=responses,
                request_state=request_state,
                meta=cast("types.RequestParamsMeta", {IDEMPOTENCY_KEY: key}),
                allow_input_required=True,
                allow_claimed=True,
            )

        found = await self._request(timeout_s, send)
        if isinstance(found, types.CallToolResult | types.InputRequiredResult | TaskCreated):
            return found
        raise Refusal(f"it answered with a result of an unknown kind, {type(found).__name__}")

    async def task(self, task: str, timeout_s: float) -> TaskState:
        """How far a task has got."""
        request = GetTask(params=TaskParams(task_id=task))
        return await self._request(timeout_s, lambda client: client.session.send_request(request, TaskState, timeout_s))

    async def tell_task(self, task: str, responses: types.InputResponses, timeout_s: float) -> None:
        """Answer what a task asks."""
        request = UpdateTask(params=UpdateParams(task_id=task, input_responses=responses))
        await self._request(timeout_s, lambda client: client.session.send_request(request, Acknowledged, timeout_s))

    async def _request(self, timeout_s: float, send: Callable[[Client], Awaitable[_T]]) -> _T:
        """Make a request. Whatever goes wrong becomes one of three exceptions, and never a wait without end."""
        client = self._client
        if client is None or not self.alive:
            raise Unavailable(f"its connection is closed{self._last_words()}")
        try:
            async with asyncio.timeout(timeout_s + SLACK_S):
                return await send(client)
        except TimeoutError:
            raise TimedOut from None
        except MCPError as problem:
            if problem.code == types.REQUEST_TIMEOUT:
                raise TimedOut from None
            if problem.code == types.CONNECTION_CLOSED:
                self._broken = True
                raise Unavailable(f"it ended, or closed the connection{self._last_words()}") from None
            raise Refusal(valid_text(str(problem)) or f"error {problem.code}") from None
        except (httpx2.HTTPError, OSError, anyio.BrokenResourceError, anyio.ClosedResourceError) as problem:
            self._broken = True
            raise Unavailable(_reason(problem)) from None
        except (ValidationError, RuntimeError) as problem:  # the SDK's word for an answer that breaks the protocol
            raise Refusal(f"its answer breaks the protocol: {_reason(problem)}") from None


async def _list_tools(client: Client, cursor: str | None) -> types.ListToolsResult:
    return await client.list_tools(cursor=cursor)


async def _decline(context: ClientRequestContext, params: types.ElicitRequestParams) -> types.ErrorData:
    """Refuse a question in the middle of a call: nobody may be there, and the call would wait for days."""
    problem = "this client answers questions by input_required (protocol 2026-07-28), and not while a call runs"
    return types.ErrorData(code=types.INVALID_REQUEST, message=problem)


def _reason(problem: BaseException) -> str:
    """The first exception behind a group of them, in words."""
    while isinstance(problem, BaseExceptionGroup):
        problem = cast("BaseExceptionGroup[BaseException]", problem).exceptions[0]
    with suppress(Exception):
        text = valid_text(str(problem)).strip()
        if text:
            return text.splitlines()[0][:500]
    return type(problem).__name__


def value_of(model: Any) -> Json:
    """A model of the SDK as plain JSON."""
    dumped: Json = model.model_dump(by_alias=True, mode="json", exclude_none=True)
    return dumped
