"""`isolation: process`: a function where it can be killed."""

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from jeton.executor import ActionFunction
from jeton.model.definition.task import Action
from jeton.model.json import JsonObject
from tests.executor.actions.given_action import Bench, failed, limited, succeeded
from tests.executor.actions.test_shell import eventually, is_alive, processes
from tests.executor.given import setting
from tests.executor.workers import isolated


def apart(function: ActionFunction[..., Any]) -> Action:
    return msgspec.structs.replace(function.action, isolation="process")


async def test_a_function_runs_elsewhere_and_knows_its_call(bench: Bench) -> None:
    answer = succeeded(await bench.call(apart(isolated.whoami), {"name": "Ada"}))
    here = Path.cwd()
    assert answer == {"pid": answer["pid"], "name": "Ada", "key": "r1:7:1:s0", "cwd": str(here)}
    assert answer["pid"] != os.getpid()


async def test_a_process_serves_one_call_after_the_other(bench: Bench) -> None:
    first, second = [await bench.call(apart(each)) for each in (isolated.whoami, isolated.whoami_async)]
    assert succeeded(first)["pid"] == succeeded(second)["pid"]


async def test_what_a_function_prints_is_no_answer_and_there_is_nothing_to_read(bench: Bench) -> None:
    assert await bench.call(apart(isolated.talk)) == {"read": ""}


@pytest.mark.parametrize(
    ("how", "type_", "message", "transient"),
    [
        pytest.param("raise", "ValueError", "no such order", False, id="an error"),
        pytest.param("transient", "TransientError", "busy", True, id="a passing one"),
        pytest.param("exit", "SystemExit", "3", False, id="asking the process to end"),
        pytest.param("die", "process_died", "ended with exit code 7", True, id="ending it"),
        pytest.param("killed", "process_died", "killed by signal 9", True, id="being killed, as for want of memory"),
    ],
)
async def test_a_function_that_fails(bench: Bench, how: str, type_: str, message: str, transient: bool) -> None:
    answer = failed(await bench.call(apart(isolated.fail), {"how": how}))
    assert (answer.type, message in answer.message, answer.transient) == (type_, True, transient)
    assert succeeded(await bench.call(apart(isolated.whoami)))["pid"], "and the next call is served"


async def test_bad_input_and_a_function_that_cannot_be_imported(bench: Bench) -> None:
    bad: JsonObject = {"how": 3}
    assert failed(await bench.call(apart(isolated.fail), bad)).type == "input_invalid"
    nowhere = Action("python", {"function": "tests.executor.workers.isolated:gone"}, isolation="process")
    assert failed(await bench.call(nowhere)).type == "function_missing"


async def test_a_result_is_bounded(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jeton.executor.workers.process_pool.MAX_REPLY_BYTES", 200_000)
    assert len(str(succeeded(await bench.call(apart(isolated.large), {"bytes": 150_000}))["result"])) == 150_000
    answer = failed(await bench.call(apart(isolated.large), {"bytes": 1_000_000}))
    assert (answer.type, "200000 bytes" in answer.message) == ("too_large", True)
    assert succeeded(await bench.call(apart(isolated.large), {"bytes": 1}))["result"] == "x"


async def test_a_timeout_kills_the_process_and_all_it_has_started(bench: Bench, tmp_path: Path) -> None:
    note = tmp_path / "note"
    await bench.call(apart(isolated.whoami))  # so that the time is not spent on starting
    answer = failed(await bench.call(limited(apart(isolated.hang), timeout_ms=1000), {"note": str(note)}))
    assert (answer.type, answer.transient) == ("action_timed_out", True)
    assert len(processes(note)) == 2
    assert not any(is_alive(process) for process in processes(note))


async def test_a_process_that_was_left_behind_goes_with_its_parent(bench: Bench) -> None:
    first = succeeded(await bench.call(apart(isolated.leave_behind)))
    left = first["left"]
    assert isinstance(left, int)
    await eventually(lambda: not is_alive(left))
    assert succeeded(await bench.call(apart(isolated.whoami)))["pid"] != first["pid"]


async def test_only_functions_have_a_process_to_run_in(bench: Bench) -> None:
    answer = await bench.call(msgspec.structs.replace(setting(a=1), isolation="process"))
    assert failed(answer).type == "unsupported_isolation"
