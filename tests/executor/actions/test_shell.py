"""`shell`: what a program gets, what it gives, and that nothing of it is left."""

import asyncio
import os
import signal
import sys
import textwrap
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

import jeton
from jeton.executor import Executor, check_implementation
from jeton.model.definition.task import Action
from jeton.model.definition.workflow import Library
from jeton.model.effect import StartTask, StopTask
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.note import LogNote
from tests.executor.actions.given_action import Bench, action, failed, limited, succeeded
from tests.executor.given import task, unheard


def shell(*argv: str, **more: Json) -> Action:
    return action("shell", argv=[*argv], **more)


def python(source: str, *arguments: str, **more: Json) -> Action:
    """A program that says what it sees."""
    return shell(sys.executable, "-c", textwrap.dedent(source), *arguments, **more)


# what it gives


async def test_the_result_is_the_exit_code_and_both_streams(bench: Bench) -> None:
    given = python("import sys; print('out'); print('err', file=sys.stderr)")
    assert await bench.call(given) == {"exit_code": 0, "stdout": "out\n", "stderr": "err\n"}


@pytest.mark.parametrize(
    ("ending", "allow", "then"),
    [
        pytest.param("raise SystemExit(3)", [], "exit code 3", id="another code than 0 is a failure"),
        pytest.param("raise SystemExit(3)", [1, 3], 3, id="unless it is allowed"),
        pytest.param("raise SystemExit(3)", [1], "exit code 3", id="and only that one"),
        pytest.param("raise SystemExit(3)", True, 3, id="or any is"),
        pytest.param("raise SystemExit(3)", False, "exit code 3", id="or none is"),
        pytest.param("import os; os.kill(os.getpid(), 9)", [], "killed by SIGKILL", id="a signal is named"),
        pytest.param("import os; os.kill(os.getpid(), 15)", True, -15, id="and is a negative code"),
    ],
)
async def test_how_a_program_ends(bench: Bench, ending: str, allow: Json, then: str | int) -> None:
    answer = await bench.call(python(ending, allow_exit=allow))
    if isinstance(then, str):
        assert failed(answer).type == "exit_code"
        assert then in failed(answer).message
        assert not failed(answer).transient
    else:
        assert succeeded(answer)["exit_code"] == then


async def test_a_failure_says_what_the_program_complained_about(bench: Bench) -> None:
    answer = failed(await bench.call(python("raise SystemExit('no such order')")))
    assert answer.message == f"{sys.executable} ended with exit code 1: no such order"


async def test_a_program_that_is_not_there(bench: Bench) -> None:
    answer = failed(await bench.call(shell("no-such-program")))
    assert (answer.type, answer.message) == ("cannot_start", "no-such-program: No such file or directory")


async def test_output_that_is_no_text_is_made_one(bench: Bench) -> None:
    assert succeeded(await bench.call(shell("printf", r"a\377b")))["stdout"] == "a\ufffdb"


# what it gets

ECHO = "import sys; print(sys.argv[1:])"


@pytest.mark.parametrize(
    "value",
    ["; rm -rf /", "$(id)", "`id`", "a\nb", "'\"", "* ?", "", "é€😀", "$HOME", "&& true", "| cat", "\\"],
)
async def test_a_value_of_the_input_is_one_argument_whatever_is_in_it(bench: Bench, value: str) -> None:
    answer = succeeded(await bench.call(python(ECHO, "{name}", "end"), {"name": value}))
    assert answer["stdout"] == f"{[value, 'end']}\n"


@pytest.mark.parametrize(
    ("argv", "input", "then"),
    [
        pytest.param(["{n}"], {"n": 3}, ["3"], id="a number is written out"),
        pytest.param(["{n}"], {"n": True}, ["true"], id="so is a boolean"),
        pytest.param(["{{n}}"], {"n": 3}, ["{n}"], id="double braces stand for themselves"),
        pytest.param(["{}", '{"a": 1}', "{a b}"], {}, ["{}", '{"a": 1}', "{a b}"], id="what names nothing stays"),
        pytest.param(["--", "{n}"], {"n": "-rf"}, ["--", "-rf"], id="behind '--' nothing is an option"),
        pytest.param(["-x"], {}, ["-x"], id="the author may write options"),
        pytest.param(["{n}"], {"n": "-rf"}, "may read as an option", id="the input may not"),
        pytest.param(["{n}"], {}, "needs 'n'", id="a value that is missing"),
        pytest.param(["{n}"], {"n": None}, "needs 'n'", id="or null"),
        pytest.param(["{n}"], {"n": ["a"]}, "is a list", id="a list is no argument"),
        pytest.param(["{n}"], {"n": "a\0b"}, "zero byte", id="a zero byte"),
        pytest.param(["{n}"], {"n": "\ud800"}, "not valid Unicode", id="half a letter"),
    ],
)
async def test_arguments(bench: Bench, argv: list[str], input: JsonObject, then: str | list[str]) -> None:
    answer = await bench.call(python(ECHO, *argv), input)
    if isinstance(then, str):
        assert failed(answer).type == "input_invalid"
        assert then in failed(answer).message
    else:
        assert succeeded(answer)["stdout"] == f"{then}\n"


async def test_a_shell_must_be_asked_for_and_gets_values_as_parameters(bench: Bench) -> None:
    assert succeeded(await bench.call(shell("echo", "$HOME; id")))["stdout"] == "$HOME; id\n"
    script = shell('echo "<$1>" | tr a-z A-Z', "{name}", shell=True)
    assert succeeded(await bench.call(script, {"name": "x; echo $(id)"}))["stdout"] == "<X; ECHO $(ID)>\n"


async def test_the_environment_is_a_list_of_what_is_allowed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_TOKEN", "hidden")
    monkeypatch.setenv("REGION", "eu")
    given = shell("env", env=["REGION", "NOT_SET"], set_env={"ORDER": "{order}", "MODE": "fast"})
    answer = succeeded(await bench.call(given, {"order": 42}))
    assert isinstance(answer["stdout"], str)
    seen = dict(line.split("=", 1) for line in answer["stdout"].splitlines())
    expected = {"PATH": os.defpath, "REGION": "eu", "ORDER": "42", "MODE": "fast"}
    assert seen == {**expected, "JETON_IDEMPOTENCY_KEY": "r1:7:1:s0"}


@pytest.mark.parametrize(
    ("stdin", "input", "then"),
    [
        pytest.param("{text}", {"text": "é\n" * 50_000}, "é\n" * 50_000, id="a text as it is"),
        pytest.param("{data}", {"data": {"a": [1]}}, '{"a":[1]}', id="data as JSON"),
        pytest.param("fixed", {}, "fixed", id="a fixed text"),
        pytest.param(None, {}, "", id="nothing"),
    ],
)
async def test_stdin(bench: Bench, stdin: str | None, input: JsonObject, then: str) -> None:
    answer = await bench.call(shell("cat", stdin=stdin), input)
    assert succeeded(answer)["stdout"] == then


async def test_a_program_that_does_not_read_its_input_ends_all_the_same(bench: Bench) -> None:
    assert succeeded(await bench.call(shell("true", stdin="{t}"), {"t": "x" * 1_000_000}))["exit_code"] == 0


async def test_the_folder_is_that_of_the_store_or_one_below_a_root(bench: Bench) -> None:
    (bench.workspace / "a" / "b").mkdir(parents=True)
    where: list[Json] = []
    below = shell("pwd", root="workspace", folder="{f}")
    for given in (shell("pwd"), shell("pwd", root="workspace"), below):
        where.append(succeeded(await bench.call(given, {"f": "a/b"}))["stdout"])
    assert where == [f"{bench.folder}\n", f"{bench.workspace}\n", f"{bench.workspace}/a/b\n"]
    assert failed(await bench.call(below, {"f": "../.."})).type == "path_refused"
    assert failed(await bench.call(shell("pwd", root="nowhere"))).type == "unknown_root"


# what is written wrongly


@pytest.mark.parametrize(
    ("implementation", "paths"),
    [
        pytest.param({"argv": ["ls", "-l", "{path}"]}, [], id="nothing"),
        pytest.param({"argv": []}, ["argv"], id="no program"),
        pytest.param({"argv": ["{program}"]}, ["argv[0]"], id="a program from the input"),
        pytest.param({"argv": "ls -l"}, ["argv"], id="a command line"),
        pytest.param({"argv": ["ls", "--sort={by}"]}, ["argv[1]"], id="a place inside an argument"),
        pytest.param({"argv": ["echo ${HOME}"], "shell": True}, [], id="but a script may have anything in it"),
        pytest.param({"argv": ["ls"], "folder": "a"}, ["folder"], id="a folder below nothing"),
        pytest.param({"argv": ["ls"], "env": ["A=1"]}, ["env"], id="a value where a name belongs"),
        pytest.param({"argv": ["ls"], "max_output_bytes": 1 << 40}, ["max_output_bytes"], id="a bound too large"),
        pytest.param({"argv": ["ls"], "grace_ms": -1, "max_memory_mb": 0}, ["grace_ms", "max_memory_mb"], id="numbers"),
        pytest.param({"argv": ["ls"], "timeout": 3}, [""], id="an unknown key"),
    ],
)
def test_check_at_load(implementation: JsonObject, paths: list[str]) -> None:
    assert [flaw.path for flaw in check_implementation(Action("shell", implementation))] == paths


# bounds

FLOOD = "import sys\nwhile True: sys.stdout.write('x' * 65536)"


async def test_output_is_capped_and_the_cut_is_marked(bench: Bench) -> None:
    given = python("print('x' * 5000, end='')", max_output_bytes=1000)
    answer = succeeded(await bench.call(given))
    assert answer == {"exit_code": 0, "stdout": "x" * 1000, "stderr": "", "truncated": {"stdout": 5000}}


async def test_output_is_told_of_as_it_comes_and_no_further_than_it_is_kept(bench: Bench) -> None:
    source = "import time\nprint('one', flush=True)\ntime.sleep(0.2)\nprint('two' * 100)"
    await bench.call(python(source, max_output_bytes=10))
    assert bench.heard == [LogNote("s0", "stdout", "one\n"), LogNote("s0", "stdout", "twotwo")]


async def test_memory_is_bounded(bench: Bench) -> None:
    answer = await bench.call(python("x = bytearray(2 << 30)", max_memory_mb=512))
    assert "MemoryError" in failed(answer).message


# nothing is left

STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:      # a child that leaves its session, and forks again: a daemon
    os.setsid()
    if os.fork():
        os._exit(0)
    os.environ.clear()
note = open(sys.argv[1], "a")
note.write(f"{os.getpid()}\\n")
note.close()
if len(sys.argv) > 2:
    while True:
        sys.stdout.write("x" * 65536)
time.sleep(60)
"""


def processes(note: Path) -> list[int]:
    return [int(line) for line in note.read_text().splitlines()] if note.exists() else []


def is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


async def eventually(condition: Callable[[], bool], within_s: float = 10) -> float:
    """How long it took until it was so."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < within_s, "it never was"
        await asyncio.sleep(0.01)
    return time.monotonic() - began


@pytest.mark.parametrize("flooding", [False, True], ids=["that is silent", "that floods its output"])
async def test_a_program_that_will_not_end_is_ended_with_its_daemons(
    bench: Bench, tmp_path: Path, flooding: bool
) -> None:
    note = tmp_path / "note"
    stubborn = python(STUBBORN, str(note), *(["flood"] if flooding else []), grace_ms=100, max_output_bytes=1000)
    given = limited(stubborn, timeout_ms=2000)
    answer = failed(await bench.call(given))
    assert (answer.type, answer.transient) == ("action_timed_out", True)
    assert len(processes(note)) == 2
    assert not any(is_alive(process) for process in processes(note)), "they are gone before the action is over"


async def test_what_a_program_leaves_running_is_ended_with_it(bench: Bench, tmp_path: Path) -> None:
    note = tmp_path / "note"
    source = f"""
    import os, subprocess, sys
    left = subprocess.Popen([sys.executable, "-c", {STUBBORN!r}, {str(note)!r}], start_new_session=True)
    while not os.path.exists({str(note)!r}) or len(open({str(note)!r}).readlines()) < 2: pass
    """
    assert succeeded(await bench.call(python(source, grace_ms=50)))["exit_code"] == 0
    assert len(processes(note)) == 2
    assert not any(is_alive(process) for process in processes(note))


async def given_running(note: Path, run: Callable[[Executor], Awaitable[None]]) -> None:
    """A program under way, and what is then done."""
    executor = Executor()
    effect = StartTask(TokenId(1), "n", 1, 1, {})
    given = task(python(STUBBORN, str(note)))
    executor.start(RunId("r"), effect, given, Library(), lambda: None, unheard, lambda answer: pytest.fail(str(answer)))
    await eventually(lambda: len(processes(note)) == 2)
    assert all(is_alive(process) for process in processes(note))
    await run(executor)
    await executor.close(0)


async def test_cancelling_a_run_stops_its_program_within_a_second(tmp_path: Path) -> None:
    note = tmp_path / "note"

    async def cancel(executor: Executor) -> None:
        executor.stop(RunId("r"), StopTask(TokenId(1), 1))
        took = await eventually(lambda: not any(is_alive(process) for process in processes(note)))
        assert took < 1

    await given_running(note, cancel)


async def test_cancelling_a_run_of_an_engine_leaves_nothing_of_its_program(tmp_path: Path) -> None:
    note = tmp_path / "note"
    stubborn = python(STUBBORN, str(note), grace_ms=100)
    node: Json = {"action": {"kind": stubborn.kind, "implementation": stubborn.implementation}}
    async with jeton.open(tmp_path / "runs.db", grace_s=0) as engine:
        await engine.deploy({"workflows": {"w": {"initial_node": "a", "nodes": {"a": node}}}})
        run = await engine.start("w")
        await eventually(lambda: len(processes(note)) == 2)
        assert (await run.cancel("enough")).accepted
        await eventually(lambda: not any(is_alive(process) for process in processes(note)))
        assert (await run.result(10)).status == "cancelled"


async def test_closing_the_executor_leaves_no_program_behind(tmp_path: Path) -> None:
    note = tmp_path / "note"

    async def close(executor: Executor) -> None:
        await executor.close(0)
        await eventually(lambda: not any(is_alive(process) for process in processes(note)))

    await given_running(note, close)


ENGINE = """
import asyncio, sys
from pathlib import Path
from tests.executor.actions.given_action import Bench
from tests.executor.actions.test_shell import STUBBORN, python
asyncio.run(Bench(Path(sys.argv[1]).parent).call(python(STUBBORN, sys.argv[1])))
"""


async def test_a_program_does_not_outlive_an_engine_that_is_killed(tmp_path: Path) -> None:
    note = tmp_path / "note"
    engine = await asyncio.create_subprocess_exec(sys.executable, "-c", ENGINE, str(note))
    await eventually(lambda: len(processes(note)) == 2, within_s=30)
    engine.send_signal(signal.SIGKILL)
    await engine.wait()
    await eventually(lambda: not any(is_alive(process) for process in processes(note)))
