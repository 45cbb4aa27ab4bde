"""`mcp`: call a tool of an MCP server of the project. The SDK is imported at the first call."""

from collections.abc import Iterator
from importlib.util import find_spec

import msgspec

from jeton.executor.action import ActionCall, ActionFailed, ActionHandler, ActionResult, Kind, KindProblem
from jeton.executor.mcp.errors import Unavailable
from jeton.executor.mcp.settings import ServerInvalid, server_named
from jeton.model.json import Json, kind_of

DEFAULT_RESULT_BYTES = 1024 * 1024
MAX_RESULT_BYTES = 16 * 1024 * 1024
DEFAULT_TASK_TIMEOUT_MS = 24 * 3_600_000
NOT_INSTALLED = "the package 'mcp' (pip install 'jeton[mcp]')"


class Mcp(Kind, frozen=True):
    """A tool of a server. The input is its arguments; what `arguments` fixes, no input changes."""

    server: str
    tool: str
    arguments: dict[str, Json] = msgspec.field(default_factory=dict[str, Json])
    max_result_bytes: int = DEFAULT_RESULT_BYTES
    answer_timeout_ms: int | None = None  # how long people have for what the tool asks
    task_timeout_ms: int = DEFAULT_TASK_TIMEOUT_MS  # how long a task of the server may take

    def problems(self) -> Iterator[KindProblem]:
        for key, value in (("server", self.server), ("tool", self.tool)):
            if not value:
                yield KindProblem(key, "is empty", f"name the {key}")
        if not 0 < self.max_result_bytes <= MAX_RESULT_BYTES:
            remedy = f"write a number from 1 to {MAX_RESULT_BYTES}"
            yield KindProblem("max_result_bytes", f"is {self.max_result_bytes}", remedy)
        for key, limit in (("answer_timeout_ms", self.answer_timeout_ms), ("task_timeout_ms", self.task_timeout_ms)):
            if limit is not None and limit < 1:
                yield KindProblem(key, f"is {limit}", "write 1 or more")

    def missing(self) -> str | None:
        return NOT_INSTALLED if find_spec("mcp") is None else None

    def prepare(self) -> ActionHandler:
        return self._call

    async def _call(self, call: ActionCall) -> ActionResult:
        given = {} if call.input is None else call.input
        if not isinstance(given, dict):
            return ActionFailed("input_invalid", f"the arguments of a tool are an object, not {kind_of(given)}")
        shared = call.resources
        who = f"MCP server '{self.server}'"
        try:
            settings = server_named(self.server, call.settings)
            connection = await shared.servers.connect(self.server, settings, shared.folder, shared.threads, call.secret)
        except ServerInvalid as problem:
            return ActionFailed("settings_invalid", str(problem), fatal=True)
        except Unavailable as problem:
            return ActionFailed("mcp_unavailable", f"{who}: {problem}", transient=True, retry_after_ms=problem.wait_ms)
        except ImportError as problem:
            return ActionFailed("mcp_not_installed", f"{NOT_INSTALLED} is needed: {problem}", fatal=True)
        except OSError as problem:
            return ActionFailed("mcp_unavailable", f"{who}: {problem.strerror or problem}", transient=True)
        from jeton.executor.mcp.call import ToolCall, make_call

        arguments = {**given, **self.arguments}
        limits = self.max_result_bytes, self.answer_timeout_ms, self.task_timeout_ms
        return await make_call(connection, ToolCall(self.server, self.tool, settings, arguments, *limits), call)
