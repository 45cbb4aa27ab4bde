"""What a task says before it is done: bounded, redacted, and heard on the loop."""

import asyncio
import contextvars
import sys
import threading

import msgspec
import pytest

import jeton
from jeton.executor.secrets import RedactingStream, Redactor
from jeton.executor.task.notes import MAX_CHARACTERS, MAX_NOTES, NoteLimiter
from jeton.model.definition.task import Action, Step, Task
from jeton.model.json import Json
from jeton.model.note import LogNote, MissingNote, Note, ProgressNote
from tests.executor.actions.given_action import Bench, failed, succeeded
from tests.executor.given import setting
from tests.executor.test_executor import host
from tests.executor.workers import isolated

SECRET = "correct horse battery staple"


def said(*notes: Note) -> list[Note]:
    heard: list[Note] = []
    listening = NoteLimiter(heard.append)
    for note in notes:
        listening.add(note)
    return heard


def line(text: str) -> LogNote:
    return LogNote("s", "log", text)


# the bound


def test_a_flood_of_notes_ends_in_one_that_says_so() -> None:
    heard = said(*(line(str(number)) for number in range(10 * MAX_NOTES)))
    assert len(heard) == MAX_NOTES
    assert heard[-1] == LogNote("s", "log", str(MAX_NOTES - 1), truncated=True)


def test_a_flood_of_text_is_cut_where_there_is_no_more_room() -> None:
    heard = said(line("a" * (MAX_CHARACTERS - 3)), line("bcdef"), line("g"))
    assert heard == [line("a" * (MAX_CHARACTERS - 3)), LogNote("s", "log", "bcd", truncated=True)]


def test_a_loop_over_many_items_has_a_hundred_things_to_say() -> None:
    heard = said(*(ProgressNote("s", item / 5000) for item in range(5000)))
    assert [note.done for note in heard if isinstance(note, ProgressNote)] == [n / 100 for n in range(100)]


def test_progress_without_end_is_cut_too() -> None:
    heard = said(*(ProgressNote("s", text=str(number)) for number in range(2 * MAX_NOTES)))
    assert len(heard) == MAX_NOTES
    assert heard[-1] == LogNote("s", "log", "", truncated=True)


def test_missing_paths_are_told_of_even_after_a_flood() -> None:
    missing = MissingNote("s", ("input.a",))
    assert said(*(line("x") for _ in range(2 * MAX_NOTES)), missing)[-1] == missing


# functions


async def report_on_the_loop(items: int) -> int:
    return isolated.report(items)


def report_from_its_own_thread(items: int) -> int:
    context, answers = contextvars.copy_context(), list[int]()
    thread = threading.Thread(target=context.run, args=(lambda: answers.append(isolated.report(items)),))
    thread.start()
    thread.join()
    return answers[0]


APART = msgspec.structs.replace(isolated.report.action, isolation="process")
FLOOD = msgspec.structs.replace(isolated.flood.action, isolation="process")


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(isolated.report.action, id="in a thread"),
        pytest.param(jeton.action(report_on_the_loop).action, id="on the loop"),
        pytest.param(jeton.action(report_from_its_own_thread).action, id="in a thread of its own making"),
        pytest.param(APART, id="in a process"),
    ],
)
async def test_a_function_reports_and_its_secrets_are_redacted(
    bench: Bench, given: Action, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANARY", SECRET)
    bench.settings = {"secrets": {"TOKEN": {"env": "CANARY"}}}
    assert succeeded(await bench.call(given, {"items": 2})) == {"result": 2}
    assert bench.heard == [
        ProgressNote("s0", 0.5, "item 0"),
        ProgressNote("s0", 1.0, "item 1"),
        LogNote("s0", "log", "the token is [secret TOKEN]"),
    ]


async def test_a_process_cannot_flood_the_engine(bench: Bench) -> None:
    assert succeeded(await bench.call(APART, {"items": 5000})) == {"result": 5000}
    assert [note.done for note in bench.heard if isinstance(note, ProgressNote)][-1] == 1.0
    assert len(bench.heard) == 102
    bench.heard.clear()
    assert succeeded(await bench.call(FLOOD, {"lines": 5000})) == {"result": 5000}
    assert len(bench.heard) == MAX_NOTES
    assert isinstance(bench.heard[-1], LogNote)
    assert bench.heard[-1].truncated


@pytest.mark.parametrize("done", [-0.1, 1.5, float("nan"), float("inf")])
async def test_progress_goes_from_0_to_1(bench: Bench, done: float) -> None:
    @jeton.action(name=f"beyond{done}")
    async def beyond() -> None:
        jeton.current_call().progress(done)

    assert failed(await bench.call(beyond.action)).message == f"progress must be between 0 and 1, not {done}"
    assert bench.heard == []


async def test_a_text_that_cannot_be_stored_is_mended(bench: Bench) -> None:
    @jeton.action
    async def half_a_letter() -> None:
        jeton.current_call().log("a\ud800b")

    await bench.call(half_a_letter.action)
    assert bench.heard == [LogNote("s0", "log", "a?b")]


async def test_a_stopped_task_is_not_heard_any_more() -> None:
    heard_of, may_go_on = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    @jeton.action
    def talkative() -> None:
        jeton.current_call().log("before")
        loop.call_soon_threadsafe(heard_of.set)
        may_go_on.wait(10)
        jeton.current_call().log("after")
        loop.call_soon_threadsafe(heard_of.set)

    async with host() as at:
        at.start(Task((Step(talkative.action, ref="s0"),)))
        async with asyncio.timeout(5):
            await heard_of.wait()
            heard_of.clear()
            at.stop()
            may_go_on.set()
            await heard_of.wait()
        assert at.notes == [LogNote("s0", "log", "before")]


# mappings


async def test_missing_paths_of_a_tasks_own_mappings_are_noted() -> None:
    steps = (
        Step(setting(a="input.given"), ref="make", input_mapping={"given": "input.lost", "b": "state.lost"}),
        Step(setting(a=1), ref="write", output_mapping={"output.a": "result.a", "output.b": "result.b"}),
    )
    async with host() as at:
        assert await at.answer(at.start(Task(steps))) == {"a": 1, "b": None}
        assert at.notes == [MissingNote("make", ("input.lost", "state.lost")), MissingNote("write", ("result.b",))]


async def test_missing_paths_of_a_context_action_are_noted(bench: Bench) -> None:
    assert succeeded(await bench.call(setting(a="input.lost"))) == {"a": None}
    assert bench.heard == [MissingNote("s0", ("input.lost",))]


# secrets across pieces


@pytest.mark.parametrize("size", range(1, 30))
def test_a_secret_that_comes_in_pieces_is_not_shown(size: int) -> None:
    text = f"a {SECRET} b {SECRET}{SECRET} c correct horse"
    redactor = Redactor({SECRET: "TOKEN"})
    stream = RedactingStream(lambda: redactor)
    shown = [stream.feed(text[at : at + size]) for at in range(0, len(text), size)]
    assert "".join([*shown, stream.end()]) == redactor.text(text)


@pytest.mark.parametrize("size", range(1, 16))
def test_of_two_secrets_that_begin_alike_the_longer_is_not_shown_in_part(size: int) -> None:
    redactor = Redactor({"abcdef": "SHORT", "abcdefghijkl": "LONG"})
    stream = RedactingStream(lambda: redactor)
    text = "abcdefghijkl, abcdef, abcdefghijkx"
    shown = [stream.feed(text[at : at + size]) for at in range(0, len(text), size)]
    assert "".join([*shown, stream.end()]) == "[secret LONG], [secret SHORT], [secret SHORT]ghijkx"


def test_what_can_be_shown_is_not_held_back_for_longer_than_a_secret() -> None:
    redactor = Redactor({"abcdef": "KEY"})
    stream = RedactingStream(lambda: redactor)
    assert len(stream.feed("x" * 1000)) > 900


PIECES = """
import os, sys, time
for piece in (os.environ["TOKEN"][:9], os.environ["TOKEN"][9:] + " was it"):
    sys.stdout.write(piece)
    sys.stdout.flush()
    time.sleep(0.1)
"""


def program(source: str, **implementation: Json) -> Action:
    return Action("shell", {"argv": [sys.executable, "-c", source], **implementation})


async def test_a_program_that_writes_a_secret_in_pieces(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY", SECRET)
    bench.settings = {"secrets": {"KEY": {"env": "CANARY"}}}
    answer = succeeded(await bench.call(program(PIECES, set_env={"TOKEN": {"secret": "KEY"}})))
    assert answer["stdout"] == "[secret KEY] was it"
    texts = [note.text for note in bench.heard if isinstance(note, LogNote)]
    assert "".join(texts) == "[secret KEY] was it"


@pytest.mark.parametrize("most", range(1, 40, 3))
async def test_output_that_is_cut_shows_no_half_of_a_secret(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setenv("CANARY", SECRET)
    bench.settings = {"secrets": {"KEY": {"env": "CANARY"}}}
    source = "import os; print('1234' + os.environ['TOKEN'] + 'x' * 50, end='')"
    given = program(source, set_env={"TOKEN": {"secret": "KEY"}}, max_output_bytes=most)
    answer = succeeded(await bench.call(given))
    assert answer["stdout"] == ("1234[secret KEY]" + "x" * 50)[:most]
    assert answer["truncated"] == {"stdout": 4 + len(SECRET) + 50}


async def test_a_failing_program_quotes_no_half_of_a_secret(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY", SECRET)
    bench.settings = {"secrets": {"KEY": {"env": "CANARY"}}}
    source = "import os, sys; sys.exit(os.environ['TOKEN'] + 'x' * 490)"
    answer = failed(await bench.call(program(source, set_env={"TOKEN": {"secret": "KEY"}})))
    assert answer.message.endswith("KEY]" + "x" * 490)
    assert "staple" not in answer.message


async def test_a_secret_that_is_missing_fails_the_program(bench: Bench) -> None:
    answer = failed(await bench.call(program("pass", set_env={"TOKEN": {"secret": "KEY"}})))
    assert answer.type == "secret_unavailable"
    assert "'KEY'" in answer.message
