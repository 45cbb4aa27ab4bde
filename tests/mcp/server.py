"""An MCP server for tests, as a program. What it does is chosen by its arguments, and what it saw is in a file."""

import argparse
import asyncio
import base64
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import mcp_types as types
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

EMPTY: dict[str, Any] = {"type": "object"}
NAME: dict[str, Any] = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--log", default=os.devnull)
    parser.add_argument("--describe", default="", help="a file with the description of 'echo', read at each list")
    parser.add_argument("--says", default="echo", help="what 'where' gives")
    parser.add_argument("--mode", default="")
    parser.add_argument("--http", type=int, default=0, help="a port, instead of the standard streams")
    return parser.parse_args()


def tools(options: argparse.Namespace) -> list[types.Tool]:
    described = Path(options.describe).read_text() if options.describe else "Gives its arguments back."
    names: tuple[str, ...] = (
        "where",
        "boom",
        "die",
        "hang",
        "picture",
        "numbers",
        "ask",
        "ask_twice",
        "sample",
        "key",
        "child",
    )
    names += ("job", "asking_job", "failing_job", "endless_job", "later", "progress", "headers", "big")
    found = [types.Tool(name="echo", description=described, input_schema=EMPTY)]
    found += [types.Tool(name=name, description=f"The tool {name}.", input_schema=EMPTY) for name in names]
    if options.mode == "giant":
        giant: dict[str, Any] = {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(40_000)}}
        found.append(types.Tool(name="giant", description="A giant.", input_schema=giant))
    return found


class TaskCreated(types.Result):
    result_type: Literal["task"] = "task"
    task_id: str
    status: str = "working"
    created_at: str = "2026-07-28T10:00:00Z"
    last_updated_at: str = "2026-07-28T10:00:00Z"
    ttl_ms: int | None = None
    poll_interval_ms: int = 500


class TaskShown(TaskCreated):
    result_type: Literal["complete"] = "complete"  # type: ignore[assignment]  # the shape is that of a task
    status_message: str | None = None
    input_requests: types.InputRequests | None = None
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None


class TaskParams(types.RequestParams):
    task_id: str
    input_responses: types.InputResponses | None = None


class Jobs:
    """Tasks of the extension: done at the second look, failed, asking first, or never done."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note = note
        self._looks: Counter[str] = Counter()
        self._told: dict[str, str] = {}

    def create(self, kind: str) -> TaskCreated:
        return TaskCreated(task_id=f"{kind}-{len(self._looks)}")

    async def get(self, context: Any, params: TaskParams) -> TaskShown:
        task = params.task_id
        self._looks[task] += 1
        self._note(f"get {task}")
        looks, kind = self._looks[task], task.partition("-")[0]
        if kind == "failing_job":
            return TaskShown(task_id=task, status="failed", error={"code": -32000, "message": "no room"})
        if kind == "asking_job" and task not in self._told:
            question = types.ElicitRequestFormParams(message="Which name?", requested_schema=NAME)
            asked: Any = {"q": types.ElicitRequest(params=question)}
            return TaskShown(task_id=task, status="input_required", input_requests=asked)
        if kind == "endless_job" or looks < 2:
            return TaskShown(task_id=task, status="working", status_message="at it")
        done = text(f"done {self._told.get(task, '')}".strip())
        result = done.model_dump(by_alias=True, mode="json", exclude_none=True)
        return TaskShown(task_id=task, status="completed", result=result)

    async def update(self, context: Any, params: TaskParams) -> types.EmptyResult:
        for response in (params.input_responses or {}).values():
            assert isinstance(response, types.ElicitResult)
            self._told[params.task_id] = str((response.content or {}).get("name"))
        return types.EmptyResult()


class Calls:
    """What the tools do."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.log = Path(options.log)
        self.jobs = Jobs(self.note)

    def note(self, line: str) -> None:
        with self.log.open("a") as file:
            file.write(f"{os.getpid()} {line}\n")

    async def call(self, context: Any, params: types.CallToolRequestParams) -> Any:
        given = params.arguments or {}
        self.note(f"call {params.name} {sorted(given.items())}")
        match params.name:
            case "echo":
                return text(str(sorted(given.items())))
            case "where":
                seen = os.environ.get("TOKEN", ""), os.environ.get("NOT_FOR_SERVERS", "nothing")
                return text(" ".join((self.options.says, *seen, Path.cwd().name)))
            case "boom":
                return types.CallToolResult(content=[types.TextContent(text="it broke")], is_error=True)
            case "die":
                os.kill(os.getpid(), signal.SIGKILL)
            case "hang":
                await asyncio.sleep(3600)
            case "child":
                child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
                return text(str(child.pid))
            case "picture":
                data = base64.b64encode(b"\x89PNG picture").decode()
                image = types.ImageContent(data=data, mime_type="image/png")
                return types.CallToolResult(content=[types.TextContent(text="look"), image])
            case "numbers":
                return types.CallToolResult(content=[types.TextContent(text="1, 2")], structured_content={"n": [1, 2]})
            case "key":
                meta = params.meta or {}
                return text(str(meta.get("dev.jeton/idempotencyKey")))
            case "job" | "asking_job" | "failing_job" | "endless_job":
                return self.jobs.create(params.name)
            case "later":
                turns = int(params.request_state or 0)
                if turns < 2:
                    return types.InputRequiredResult(request_state=str(turns + 1))
                return text(f"after {turns}")
            case "progress":
                await context.session.report_progress(1, 4, "a quarter")
                return text("done")
            case "headers":
                return text(str(context.request.headers.get("x-key")))
            case "big":
                return text("x" * int(given["size"]))
            case "ask" | "ask_twice":
                return self.ask(params, 2 if params.name == "ask_twice" else 1)
            case "sample":
                request = types.CreateMessageRequest(
                    params=types.CreateMessageRequestParams(
                        messages=[types.SamplingMessage(role="user", content=types.TextContent(text="hi"))],
                        max_tokens=5,
                    )
                )
                return types.InputRequiredResult(input_requests={"s": request}, request_state="x")
            case "giant":
                return text("giant")
            case _:
                raise ValueError(params.name)
        raise AssertionError("not reached")

    def ask(self, params: types.CallToolRequestParams, times: int) -> Any:
        """Ask for a name, so often; what was said before is only in the state that the client sends back."""
        said = (params.request_state or "").split(",") if params.request_state else []
        for response in (params.input_responses or {}).values():
            assert isinstance(response, types.ElicitResult)
            if response.action != "accept":
                return text(f"{response.action}d")
            said.append(str((response.content or {}).get("name")))
        if len(said) >= times:
            self.note(f"told {said}")
            return text(f"hello {' and '.join(said)}")
        question = types.ElicitRequestFormParams(message=f"Name number {len(said) + 1}?", requested_schema=NAME)
        requests: Any = {f"q{len(said)}": types.ElicitRequest(params=question)}
        return types.InputRequiredResult(input_requests=requests, request_state=",".join(said) or None)


def text(said: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=said)])


async def main() -> None:
    options = parsed()
    calls = Calls(options)
    calls.note("start")
    if options.mode == "silent":
        await asyncio.sleep(3600)
    if options.mode == "ends":
        print("cannot find my files", file=sys.stderr)
        sys.exit(3)
    if options.mode == "floods":
        while True:
            sys.stdout.write("x" * 65536)

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools(options))

    server: Server[Any] = Server("tests", on_list_tools=list_tools, on_call_tool=calls.call)
    server.add_request_handler("tasks/get", TaskParams, calls.jobs.get)
    server.add_request_handler("tasks/update", TaskParams, calls.jobs.update)
    if options.http:
        app = server.streamable_http_app(json_response=options.mode == "json")
        await uvicorn.Server(uvicorn.Config(app, port=options.http, log_level="error")).serve()
        return
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(main())
