"""On a terminal, what actions print and log stands above the live view."""

import json
import os
import pty
import signal
import subprocess
import time
from pathlib import Path

from tests.cli.look.screen import screen
from tests.cli.test_process import JETON
from tests.cli.verbs import Verbs

APP = """
import logging, os, sys, time
import jeton

logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(message)s")

@jeton.action
def talk() -> dict[str, bool]:
    for number in range(3):
        print(f"printed {number}")
        logging.info(f"logged {number}")
        os.write(1, f"written {number}\\n".encode())
        time.sleep(0.3)
    return {"ok": True}
"""
TALK = {"workflows": {"w": {"initial_node": "talk", "nodes": {"talk": {"action": "talk"}}}}}


def on_a_terminal(jeton: Verbs, *args: str, until: bytes | None = None) -> tuple[int, list[str]]:
    """The exit code of the verb, and the lines that are left on the terminal; interrupted when `until` appears."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "200", "LINES": "200"}
    process = subprocess.Popen(
        [JETON, *args, "--store", str(jeton.store)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=jeton.folder,
        env=environment,
        start_new_session=True,
    )
    os.close(theirs)
    sent, interrupted = b"", False
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            found = os.read(ours, 4096)
        except OSError:
            break
        if not found:
            break
        sent += found
        if until is not None and until in sent and not interrupted:
            interrupted = True
            process.send_signal(signal.SIGINT)
    os.close(ours)
    return process.wait(timeout=10), screen(sent.decode())


def write_app(folder: Path) -> None:
    (folder / "talking_app.py").write_text(APP)


def check_whole(lines: list[str]) -> None:
    printed = [f"{kind} {number}" for number in range(3) for kind in ("printed", "logged", "written")]
    assert [line for line in lines if line in printed] == printed, lines
    (view,) = [index for index, line in enumerate(lines) if line.startswith("w  ")]
    assert view > lines.index("written 2")
    assert len([line for line in lines if "talk" in line and "task" in line]) == 1


def test_run(jeton: Verbs) -> None:
    write_app(jeton.folder)
    jeton.library.write_text(json.dumps(TALK))
    exits, lines = on_a_terminal(jeton, "run", str(jeton.library), "--app", "talking_app.py")
    assert exits == 0, lines
    check_whole(lines)


def test_an_interrupt_leaves_no_stale_lines(jeton: Verbs) -> None:
    exits, lines = on_a_terminal(jeton, "run", str(jeton.library), "ship", until=b"Ship it?")
    assert exits == 4, lines
    assert len([line for line in lines if line.startswith("ship  ")]) == 1, lines
    assert len([line for line in lines if "Ship it?" in line and "◷ token" in line]) == 1
    assert len([line for line in lines if "stopping" in line]) == 1
    assert not any("Traceback" in line or "destroyed" in line for line in lines)


def test_resume_has_the_live_view(jeton: Verbs) -> None:
    run = jeton.run("ship", "--wait", "0", exits=4)["run_id"]
    exits, lines = on_a_terminal(jeton, "resume")
    assert exits == 0, lines
    assert lines.count(f"ship  {run}") == 1, lines
    assert len([line for line in lines if "Ship it?" in line and "◷ token" in line]) == 1


REPORTING = """
import asyncio
import jeton

@jeton.action
async def report() -> None:
    jeton.current_call().progress(0.4, "four of ten")
    await asyncio.sleep(600)
"""


def test_progress_moves_while_the_task_runs(jeton: Verbs) -> None:
    (jeton.folder / "reporting_app.py").write_text(REPORTING)
    report = {"workflows": {"w": {"initial_node": "report", "nodes": {"report": {"action": "report"}}}}}
    jeton.library.write_text(json.dumps(report))
    arguments = ("run", str(jeton.library), "--app", "reporting_app.py")
    exits, lines = on_a_terminal(jeton, *arguments, until=b"four of ten")
    assert exits == 4, lines
    (line,) = [line for line in lines if "report" in line and "four of ten" in line]
    assert "40%" in line
