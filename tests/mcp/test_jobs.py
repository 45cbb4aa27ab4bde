"""Tools that become tasks of their server: the run polls them, and no worker waits."""

from pathlib import Path

import jeton
from tests.mcp.given import calls, failure, gate_of, library, log_of, program, run, said


async def test_a_task_is_polled_by_the_run(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with jeton.open(tmp_path / "store.db") as engine:
        server = {"command": program("--log", str(log))}
        found = {tool: calls(tool) for tool in ("job", "failing_job", "asking_job")}
        await engine.deploy(library({"s": server}, **found, endless=calls("endless_job", task_timeout_ms=1)))
        started = await engine.start("job", {})
        assert said(await engine.ended(started.id, 30)) == "done"
        events = [event["type"] async for event in engine.events(started.id)]
        assert events.count("timer.set") == events.count("timer.fired") == 2
        assert failure(await run(engine, "failing_job")) == (
            "mcp_task_failed",
            "MCP server 's', tool 'failing_job': its task failed: no room",
        )
        assert failure(await run(engine, "endless"))[0] == "mcp_timeout"

        asking = await engine.start("asking_job", {})
        gate = await gate_of(engine, asking.id)
        assert gate.title == "MCP server 's', tool 'asking_job' asks: Which name?"
        await engine.answer(asking.id, {"name": "Ada"})
        assert said(await engine.ended(asking.id, 30)) == "done Ada"
    assert [line for _, line in log_of(log)].count("call job []") == 1, "it is polled, and not called again"
