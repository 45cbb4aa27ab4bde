"""Python nodes in flows: by name from a stored flow, after a kill, and without the function they need."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import jeton
from tests.engine.test_flows import constant, flow, wire

APP = """
import os, signal
from pathlib import Path
import jeton

HERE = Path(__file__).parent

def note(what):
    with (HERE / "done.txt").open("a") as file:
        file.write(what + "\\n")
    return what

@jeton.node
async def charges(main, step, publish, node_id):
    paid = await step.run("pay", lambda: note("paid"))
    await publish("order.paid", {"by": node_id})
    if not (HERE / "killed").exists():
        (HERE / "killed").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    sent = await step.run("send", lambda: note("sent"))
    return {"paid": paid, "sent": sent, "_branch": "done"}

shop = jeton.Flow("shop")
pay = shop.node("pay", charges)
shop.node("start", "trigger") >> pay
shop.connect(pay, shop.node("thanks", "set", data={"note": "context.sent"}), "done")
"""


@jeton.node
async def halves(main: float) -> dict[str, Any]:
    return {"half": main / 2, "_branch": "small" if main < 10 else "large"}


def jeton_(folder: Path, *args: str, exits: int) -> Any:
    store = ("--store", str(folder / "runs.db"), "--json")
    run = [sys.executable, "-m", "jeton.cli.main", *args, *store]
    done = subprocess.run(run, capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode == exits, done.stdout + done.stderr
    return json.loads(done.stdout) if done.stdout else None


def test_what_was_done_before_a_kill_is_not_done_again(tmp_path: Path) -> None:
    app = tmp_path / "app" / "shopping.py"  # where nobody finds it by chance
    app.parent.mkdir()
    app.write_text(APP)
    jeton_(tmp_path, "run", str(app), exits=-signal.SIGKILL)
    parked = jeton_(tmp_path, "resume", exits=5)
    (run,) = parked["needs_app"]
    assert "shopping:charges" in parked["needs_app"][run]
    jeton_(tmp_path, "resume", "--app", str(app), exits=0)
    shown = jeton_(tmp_path, "show", run, exits=0)
    assert shown["output"] == {"paid": "paid", "sent": "sent", "note": "sent"}
    assert shown["nodes"]["pay"]["outputs"] == {"paid": "paid", "sent": "sent"}
    assert (app.parent / "done.txt").read_text().split() == ["paid", "sent"]


async def test_a_flow_names_its_function_and_control_keys_are_taken_out(tmp_path: Path) -> None:
    branches = {"five": constant(5), "halves": {"type": "halves"}, "low": {"type": "merge"}, "high": {"type": "merge"}}
    library = flow(
        branches,
        wire("five", "halves", "value"),
        wire("halves", "low", "small"),
        wire("halves", "high", "large"),
    )
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(library)
        record = await (await engine.start("f")).result(timeout=20)
        stored = (await engine.workflow("f")).actions["halves"]
    assert stored.implementation == {"function": "tests.engine.builder.test_nodes:halves"}
    assert record.nodes["halves"].outputs == {"half": 2.5}
    assert (record.nodes["low"].status, record.nodes["high"].skip_reason) == ("completed", "branch_not_taken")
    assert record.output == {"value": 5, "half": 2.5, "main": {"half": 2.5}}


async def test_a_flow_built_in_python_goes_on_after_a_failure(tmp_path: Path) -> None:
    built = jeton.Flow("f")
    broken = built.node("broken", "divide", inputs={"a": 1, "b": 0}, on_error="route")
    replaced = built.node("replaced", "divide", inputs={"a": 1, "b": 0}, on_error={"default": {"result": 7}})
    failed = built.node("failed", "divide", inputs={"a": 1, "b": 0})
    after = built.node("after", "merge", run_when="settled")
    built.connect(broken, after, output="error", input="why")
    built.connect(replaced, after, output="result", input="number")
    built.connect(failed, after)
    async with jeton.open(tmp_path / "runs.db") as engine:
        record = await (await engine.start(built)).result(timeout=20)
    assert (record.status, record.nodes["after"].status) == ("failed", "completed")
    why = record.nodes["broken"].outputs
    assert why is not None
    assert record.nodes["after"].inputs == {"why": why["error"], "number": 7}


async def test_a_flow_built_in_python_is_the_flow_in_a_file(tmp_path: Path) -> None:
    built = jeton.Flow("f", on_error="fail", limits={"max_nodes": 9})
    five = built.node("five", "constant", data={"value": 5})
    built.connect(five, built.node("halves", halves), output="value")
    async with jeton.open(tmp_path / "runs.db") as engine:
        record = await (await engine.start(built)).result(timeout=20)
        definition = (await engine.workflow("f")).flows["f"]
    assert record.output == {"value": 5, "half": 2.5}
    assert (definition.on_error, definition.limits.max_nodes, definition.order) == ("fail", 9, ("five", "halves"))
