"""`jeton` as a process of its own: how quickly it starts, how it is stopped, how it goes on after being killed."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.verbs import Verbs

JETON = str(Path(sys.executable).with_name("jeton"))
APP = """
import pathlib, time
import jeton

@jeton.action
async def work(folder: str) -> dict[str, bool]:
    import asyncio
    pathlib.Path(folder, "began").touch()
    while not pathlib.Path(folder, "go").exists():
        await asyncio.sleep(0.01)
    return {"ok": True}
"""
LIBRARY = {
    "workflows": {
        "w": {"initial_node": "a", "nodes": {"a": {"action": "work", "output_mapping": {"output.ok": "result.ok"}}}}
    }
}


def begun(jeton: Verbs) -> subprocess.Popen[str]:
    """A run in a process of its own, in the middle of its one task."""
    (jeton.folder / "working_app.py").write_text(APP)
    jeton.library.write_text(json.dumps(LIBRARY))
    given = json.dumps({"folder": str(jeton.folder)})
    args = [JETON, "run", str(jeton.library), "--input", given, "--app", "working_app.py", "--json"]
    process = subprocess.Popen(
        [*args, "--store", str(jeton.store)],
        cwd=jeton.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 20
    while not (jeton.folder / "began").exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return process


def resumed(jeton: Verbs, *args: str) -> subprocess.CompletedProcess[str]:
    (jeton.folder / "go").touch()
    done = [JETON, "resume", *args, "--json", "--store", str(jeton.store)]
    return subprocess.run(done, cwd=jeton.folder, capture_output=True, text=True, timeout=30, check=False)


def test_a_run_killed_in_the_middle_is_finished_by_resume(jeton: Verbs) -> None:
    process = begun(jeton)
    process.kill()
    process.communicate()
    done = resumed(jeton, "--app", "working_app.py")
    assert done.returncode == 0, done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    assert (run["status"], run["output"]) == ("completed", {"ok": True})


def test_a_run_whose_function_is_not_here_is_parked_and_reported(jeton: Verbs) -> None:
    process = begun(jeton)
    process.kill()
    process.communicate()
    (jeton.folder / "working_app.py").unlink()
    done = resumed(jeton)
    assert done.returncode == 5
    found = json.loads(done.stdout)
    assert [run["status"] for run in found["runs"]] == ["running"]
    assert "working_app" in next(iter(found["needs_app"].values()))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_lets_the_task_finish(jeton: Verbs, number: signal.Signals) -> None:
    process = begun(jeton)
    process.send_signal(number)
    (jeton.folder / "go").touch()
    out, err = process.communicate(timeout=20)
    assert "stopping" in err
    assert process.returncode == 0
    assert json.loads(out)["status"] == "completed"


def test_a_second_signal_ends_it_at_once(jeton: Verbs) -> None:
    process = begun(jeton)
    process.send_signal(signal.SIGTERM)
    assert process.stderr is not None
    assert "stopping" in process.stderr.readline()
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=4)
    assert process.returncode == 128 + signal.SIGTERM


def test_a_run_that_waits_for_a_person_goes_on_when_it_is_answered_beside_it(jeton: Verbs) -> None:
    process = subprocess.Popen(
        [JETON, "run", str(jeton.library), "calls", "--store", str(jeton.store)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    seen: list[str] = []
    while not any("gate.opened" in line for line in seen):
        seen.append(process.stdout.readline())
        assert seen[-1], "it ended before its gate opened"
    (gate,) = jeton.json("gates")["gates"]
    assert "Ship it?" in seen[-1]
    assert jeton.json("answer", gate["run_id"], "--value", '{"ok": true}')["outcome"] == "taken"
    out, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    assert '"ok": true' in out


def cpu_of(args: Sequence[str]) -> float:
    """The least of a few, because others use the machine too."""
    least = 1e9
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(args, check=True, stdout=subprocess.DEVNULL, env={"PATH": os.environ["PATH"]})
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        least = min(least, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return least


def test_help_costs_at_most_ten_times_what_python_costs() -> None:
    assert cpu_of([JETON, "--help"]) <= 10 * cpu_of([sys.executable, "-c", "pass"])


def test_a_run_that_is_left_waiting_is_reported_in_one_line(jeton: Verbs) -> None:
    args = [JETON, "run", str(jeton.library), "ship", "--wait", "0.2", "--store", str(jeton.store)]
    done = subprocess.run(args, capture_output=True, text=True, check=False)
    assert done.returncode == 4
    (run,) = (each["run_id"] for each in jeton.json("ls")["runs"])
    assert done.stderr == f"run {run} has not ended; to go on: jeton resume --store {jeton.store}\n"
