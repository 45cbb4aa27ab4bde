"""The action `mcp`, with a real server behind it: what goes in, what comes back, and what is refused."""

from pathlib import Path

import pytest

import jeton
from jeton.engine.engine import Engine
from jeton.executor import Resources, TaskCall, ThreadPool, compile_task, run_task
from jeton.executor.clock import LoopClock
from jeton.executor.task.run_task import TaskResult
from jeton.model.definition.task import Action, Step, Task
from jeton.model.definition.workflow import Library
from jeton.model.failure import TaskFailed
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json
from tests.mcp.given import Data, calls, failure, is_alive, library, log_of, program, run, said

TOOLS = ("echo", "boom", "picture", "numbers", "key", "sample", "progress", "big", "later")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mcp") / "log"


async def deployed(engine: Engine, log: Path, **workflows: Data) -> None:
    await engine.deploy(library({"s": {"command": program("--log", str(log))}}, **workflows))


async def test_results_and_failures_of_tools(tmp_path: Path, log: Path) -> None:
    """One server for all of them: it is started once, because starting is what takes time."""
    found: Data = {tool: calls(tool) for tool in TOOLS}
    fixed = calls("echo", arguments={"path": "/safe", "mode": "read"})
    async with jeton.open(tmp_path / "store.db") as engine:
        await deployed(
            engine, log, **found, fixed=fixed, nowhere=calls("nope"), small=calls("big", max_result_bytes=99)
        )
        assert {line for _, line in log_of(log)} == {"start"}, "it is asked what it is, and nothing is called"

        assert said(await run(engine, "echo", {"a": 1, "b": [2]})) == "[('a', 1), ('b', [2])]"
        assert said(await run(engine, "fixed", {"path": "/etc", "x": 1})) == (
            "[('mode', 'read'), ('path', '/safe'), ('x', 1)]"
        )
        assert (await run(engine, "numbers")).output == {"result": {"n": [1, 2]}}
        assert failure(await run(engine, "boom")) == ("mcp_tool_error", "it broke")
        assert failure(await run(engine, "nowhere"))[0] == "mcp_unknown_tool"
        denied = failure(await run(engine, "sample"))
        assert denied[0] == "mcp_request_denied"
        assert "sampling/createMessage" in denied[1]
        assert failure(await run(engine, "small", {"size": 100})) == (
            "too_large",
            "the result has 111 bytes, and max_result_bytes is 99",
        )

        picture = await run(engine, "picture")
        output: Data = picture.output["result"]  # type: ignore[index,call-overload,assignment]  # plain JSON
        assert (output["text"], output["parts"][0]["type"]) == ("look", "image")
        reference = output["parts"][0]["artifact"]
        assert (reference["media_type"], reference["size"]) == ("image/png", 12)

        first, second = [await engine.start("key", {}) for _ in range(2)]
        keys = {said(await engine.ended(each.id, 20)) for each in (first, second)}
        assert keys == {f"{first.id}:0:1:call", f"{second.id}:0:1:call"}

        assert said(await run(engine, "later")) == "after 2"
        followed = await engine.start("progress", {})
        await engine.ended(followed.id, 20)
        told = [event async for event in engine.events(followed.id) if event["type"] == "task.progress"]
        assert [(event["done"], event["text"]) for event in told] == [(0.25, "a quarter")]
    processes = {process for process, _ in log_of(log)}
    assert len(processes) == 1, "all calls share one process"
    assert not any(map(is_alive, processes)), "it ends with the engine"


async def test_arguments_are_an_object(tmp_path: Path) -> None:
    """A list is refused before the server is even started."""
    log = tmp_path / "log"
    call = Action("mcp", {"server": "s", "tool": "echo"})
    bundle = Library(settings=library({"s": {"command": program("--log", str(log))}})["project"]["settings"])
    failed = await made(call, [1], bundle)
    assert isinstance(failed, TaskFailed)
    assert (failed.type, failed.message) == ("input_invalid", "the arguments of a tool are an object, not a list")
    assert log_of(log) == []


async def made(action: Action, input: Json, bundle: Library) -> TaskResult:
    """One call of an action, without a run around it."""
    task = compile_task(Task((Step(action, ref="s"),), of_action=True), bundle)
    return await run_task(TaskCall(RunId("r"), TokenId(0), "n", 1, input), task, Resources(LoopClock(), ThreadPool(1)))


async def test_the_same_tool_of_two_servers_is_two_tools(tmp_path: Path) -> None:
    servers: Data = {name: {"command": program("--says", name)} for name in ("one", "two")}
    workflows: Data = {name: calls("where", name) for name in servers}
    async with jeton.open(tmp_path / "store.db") as engine:
        await engine.deploy(library(servers, **workflows))
        assert [said(await run(engine, name)).split()[0] for name in servers] == ["one", "two"]


async def test_environment_folder_and_exposed_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THE_TOKEN", "hunter2-hunter2")
    monkeypatch.setenv("NOT_FOR_SERVERS", "private")
    (tmp_path / "work").mkdir()
    server: Data = {
        "command": program(),
        "env": {"TOKEN": {"secret": "TOKEN"}},
        "cwd": "work",
        "expose": ["where"],
    }
    settings: Data = {"secrets": {"TOKEN": {"env": "THE_TOKEN"}}}
    async with jeton.open(tmp_path / "store.db") as engine:
        await engine.deploy(library({"s": server}, settings, where=calls("where"), echo=calls("echo")))
        shown = said(await run(engine, "where"))
        assert failure(await run(engine, "echo"))[0] == "mcp_unknown_tool"
    assert shown.startswith("echo [secret"), "the server has the secret, and what it says of it is redacted"
    assert "hunter2" not in shown
    assert shown.endswith(" nothing work"), "it has no other variable of the engine"


async def test_a_tool_in_the_middle_of_a_task(tmp_path: Path) -> None:
    """A worker waits in place where the task cannot be left: other steps would be done again."""
    step: Data = {"ref": "later", "action": {"kind": "mcp", "implementation": {"server": "s", "tool": "later"}}}
    asks: Data = {"ref": "ask", "action": {"kind": "mcp", "implementation": {"server": "s", "tool": "ask"}}}
    ends: Data = {"ref": "end", "action": {"kind": "context", "implementation": {"set": {"ended": "true"}}}}
    workflows: Data = {
        name: {"initial_node": "a", "nodes": {"a": {"task": name, "output_mapping": {"output.result": "result"}}}}
        for name in ("later", "asks")
    }
    tasks = {"later": {"steps": [step, ends]}, "asks": {"steps": [asks, ends]}}
    async with jeton.open(tmp_path / "store.db") as engine:
        await engine.deploy({**library({"s": {"command": program()}}, **workflows), "tasks": tasks})
        assert (await run(engine, "later")).output == {"result": {"text": "after 2", "ended": True}}
        assert failure(await run(engine, "asks"))[0] == "cannot_ask"
