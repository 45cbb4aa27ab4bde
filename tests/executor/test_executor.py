"""Many tasks at a time: fair, bounded, each answered once."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest

from jeton.actor.workers import Workers
from jeton.executor import Executor
from jeton.executor.python.action import action
from jeton.executor.task.run_task import TaskResult
from jeton.model.definition.task import Action, Step, Task
from jeton.model.definition.workflow import Library
from jeton.model.effect import StartTask, StopTask
from jeton.model.failure import TaskFailed
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.note import Note
from jeton.plugins import ActionCall, ActionFailed, ActionHandler, Kind, LaneName, register_kind
from tests.executor.given import asserting, mock, setting, task, unheard

LIBRARY = Library()


class Host:
    """Starts tasks, and keeps what it is told, in order."""

    def __init__(self, executor: Executor) -> None:
        self.executor: Workers = executor
        self.heard: list[str] = []
        self.answers: dict[str, TaskResult] = {}
        self.notes: list[Note] = []
        self._news = asyncio.Event()

    def start(
        self, given: Task, token: int = 1, run: str = "r", attempt: int = 1, input: JsonObject | None = None
    ) -> str:
        name = f"{run}:{token}:{attempt}"

        def started() -> None:
            self._hear(f"{name} started")

        def finished(answer: TaskResult) -> None:
            self.answers[name] = answer
            self._hear(f"{name} finished")

        effect = StartTask(TokenId(token), "n", attempt, 1, input or {})
        self.executor.start(RunId(run), effect, given, LIBRARY, started, self.notes.append, finished)
        return name

    def stop(self, token: int = 1, run: str = "r", attempt: int = 1) -> None:
        self.executor.stop(RunId(run), StopTask(TokenId(token), attempt))

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until what it was told makes the condition true."""
        async with asyncio.timeout(5):
            while not condition():
                self._news.clear()
                await self._news.wait()

    async def answer(self, name: str) -> TaskResult:
        await self.until(lambda: name in self.answers)
        return self.answers[name]

    def _hear(self, what: str) -> None:
        self.heard.append(what)
        self._news.set()


@asynccontextmanager
async def host(tasks: int = 8, threads: int = 2) -> AsyncGenerator[Host]:
    executor = Executor(tasks, threads)
    yield Host(executor)
    await executor.close(0)


class Door:
    """Holds whoever comes, on the loop, until it is opened."""

    def __init__(self) -> None:
        self.inside = 0
        self.most = 0
        self._open = asyncio.Event()

        @action(name=f"door{id(self)}")
        async def door() -> dict[str, int]:
            self.inside += 1
            self.most = max(self.most, self.inside)
            await self._open.wait()
            self.inside -= 1
            return {"ok": 1}

        self.task = task(door.action)

    def open(self) -> None:
        self._open.set()


async def settle() -> None:
    """Let everything that can go on do so."""
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("given", "then"),
    [
        pytest.param(task(setting(a=1)), {"a": 1}, id="T16 one step"),
        pytest.param(task(setting(a=1), setting(b=2), setting(c=3)), {"a": 1, "b": 2, "c": 3}, id="T16 three steps"),
        pytest.param(task(mock(delay_ms=1)), {}, id="a task that waits"),
        pytest.param(
            task(asserting("false")),
            TaskFailed("assertion_failed", "false does not hold with {}", "s0"),
            id="a failure",
        ),
        pytest.param(task(Action("telepathy")), None, id="something unknown"),
        pytest.param(task(setting(a="1 +")), None, id="a definition that nobody checked"),
    ],
)
async def test_one_dispatch_is_started_once_and_answered_once(given: Task, then: TaskResult) -> None:
    async with host() as at:
        name = at.start(given)
        assert at.heard == [], "nothing is called back before start returns"
        answer = await at.answer(name)
        assert isinstance(answer, TaskFailed) if then is None else answer == then
        await settle()
        assert at.heard == [f"{name} started", f"{name} finished"]


@pytest.mark.parametrize("lane", ["loop", "instant"])
async def test_an_attempt_it_has_already_is_not_begun_again(lane: str) -> None:
    async with host() as at:
        door = Door()
        given = door.task if lane == "loop" else task(setting(a=1))
        for _ in range(3):
            at.start(given)
        if lane == "loop":
            await at.until(lambda: len(at.heard) == 1)
            at.start(given)  # queued or running makes no difference
        door.open()
        await at.answer("r:1:1")
        await settle()
        assert at.heard == ["r:1:1 started", "r:1:1 finished"]


async def test_another_attempt_is_another_call() -> None:
    async with host() as at:
        for attempt in (1, 2):
            await at.answer(at.start(task(setting(a=1)), attempt=attempt))
        assert len(at.answers) == 2


async def test_no_more_than_the_places_there_are() -> None:
    async with host(tasks=3) as at:
        door = Door()
        for token in range(10):
            at.start(door.task, token)
        await settle()
        assert len(at.heard) == 3, "a task that waits for a place has not started"
        door.open()
        await at.until(lambda: len(at.answers) == 10)
        assert door.most <= 3


async def test_what_never_waits_needs_no_place() -> None:
    async with host(tasks=1) as at:
        door = Door()
        at.start(door.task, 1)
        at.start(door.task, 2)
        assert await at.answer(at.start(task(setting(a=1)), 3)) == {"a": 1}
        door.open()


async def test_one_large_fan_out_does_not_keep_other_runs_waiting() -> None:
    async with host(tasks=1) as at:
        given = task(mock(delay_ms=1))
        for token in range(50):
            at.start(given, token, run="large")
        at.start(given, 1, run="small")
        at.start(given, 2, run="small")
        await at.until(lambda: "small:2:1" in at.answers)
        assert at.heard.index("small:2:1 finished") < 10


async def test_a_stopped_task_is_ended_and_never_answers() -> None:
    ended: list[str] = []
    hold = asyncio.Event()

    @action
    async def endless() -> None:
        try:
            await hold.wait()
        finally:
            ended.append("cleaned up")

    async with host(tasks=1) as at:
        at.start(task(endless.action))
        at.start(task(mock(delay_ms=1)), 2)
        await settle()
        at.stop()
        await at.answer("r:2:1")
        assert ended == ["cleaned up"]
        assert at.heard == ["r:1:1 started", "r:2:1 started", "r:2:1 finished"]


async def test_a_task_stopped_in_the_queue_is_never_begun() -> None:
    async with host(tasks=1) as at:
        door = Door()
        at.start(door.task, 1)
        at.start(door.task, 2)
        at.start(task(setting(a=1)), 3)
        at.stop(2)
        at.stop(3)
        door.open()
        await at.answer("r:1:1")
        await settle()
        assert at.heard == ["r:1:1 started", "r:1:1 finished"]


async def test_a_task_that_will_not_stop_gives_up_its_place() -> None:
    release = asyncio.Event()

    @action
    async def stubborn() -> None:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    async with host(tasks=1) as at:
        at.start(task(stubborn.action))
        await at.until(lambda: len(at.heard) == 1)
        at.stop()
        assert await at.answer(at.start(task(mock(delay_ms=1)), 2)) == {}
        release.set()
        await settle()
        assert "r:1:1" not in at.answers


async def test_stopping_what_nobody_has_does_nothing() -> None:
    async with host() as at:
        at.stop(99)
        name = at.start(task(setting(a=1)))
        await at.answer(name)
        at.stop()
        assert at.heard[-1] == f"{name} finished"


async def test_a_host_that_stops_a_task_when_told_that_it_started() -> None:
    for given in (task(setting(a=1)), task(mock(delay_ms=1))):
        async with host(tasks=1) as at:
            effect, heard = StartTask(TokenId(1), "n", 1, 1, {}), list[TaskResult]()
            at.executor.start(RunId("r"), effect, given, LIBRARY, at.stop, unheard, heard.append)
            await settle()
            await at.answer(at.start(given, 2))
            assert not heard


class Hang:
    """Holds a thread until it is let go."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.entered = 0

        @action(name=f"hang{id(self)}")
        def hang() -> dict[str, int]:
            self.entered += 1
            self.go.wait(5)
            return {"ok": 1}

        self.task = task(hang.action)


@contextmanager
def hanging() -> Generator[Hang]:
    hang = Hang()
    yield hang
    hang.go.set()


async def test_threads_are_bounded_apart() -> None:
    with hanging() as hang:
        async with host(threads=2) as at:
            for token in range(5):
                at.start(hang.task, token)
            assert await at.answer(at.start(task(mock(delay_ms=1)), 9)) == {}
            assert at.heard.count("r:0:1 started") + at.heard.count("r:1:1 started") == 2
            assert "r:2:1 started" not in at.heard, "it has not begun while it waits for a thread"
            hang.go.set()
            await at.until(lambda: len(at.answers) == 6)


async def test_a_thread_that_hangs_is_given_up_and_its_result_dropped() -> None:
    with hanging() as hang:
        async with host(threads=1) as at:
            at.start(hang.task)
            await at.until(lambda: len(at.heard) == 1)
            at.stop()

            @action
            def quick() -> dict[str, int]:
                return {"quick": 1}

            assert await at.answer(at.start(task(quick.action), 2)) == {"quick": 1}
            hang.go.set()
            assert await at.answer(at.start(task(quick.action), 3)) == {"quick": 1}
            assert "r:1:1" not in at.answers


async def test_a_task_timeout_ends_a_function_that_hangs() -> None:
    with hanging() as hang:
        async with host() as at:
            given = Task(hang.task.steps, timeout_ms=20)
            then = TaskFailed("timed_out", "the task took longer than 20 ms", "s0")
            assert await at.answer(at.start(given)) == then


@pytest.mark.parametrize(
    "error", [SystemExit(1), KeyboardInterrupt(), asyncio.CancelledError(), GeneratorExit(), ZeroDivisionError()]
)
async def test_whatever_a_task_raises_the_loop_lives_and_the_token_is_answered(error: BaseException) -> None:
    @action
    async def raises() -> None:
        await asyncio.sleep(0)
        raise error

    async with host() as at:
        answer = await at.answer(at.start(task(raises.action)))
        assert isinstance(answer, TaskFailed)
        assert answer.type == type(error).__name__
        assert await at.answer(at.start(task(setting(a=1)), 2)) == {"a": 1}


class Unruly(BaseException):
    pass


class Rude(Kind, frozen=True):
    """A kind that breaks its promises."""

    how: str

    def lane(self) -> LaneName:
        return "instant"

    def prepare(self) -> ActionHandler:
        async def act(call: ActionCall) -> Json | ActionFailed:
            if self.how == "waits":
                await asyncio.sleep(0)
            raise Unruly("no manners")

        return act


@pytest.mark.parametrize(
    ("how", "then"),
    [
        pytest.param("waits", TaskFailed("broken_kind", "an action of the lane 'instant' has waited"), id="it waits"),
        pytest.param("raises", TaskFailed("Unruly", "no manners"), id="it raises what nobody expects"),
    ],
)
async def test_a_kind_that_breaks_its_promises_fails_its_task(how: str, then: TaskFailed) -> None:
    register_kind("rude", Rude)
    async with host() as at:
        assert await at.answer(at.start(task(Action("rude", {"how": how})))) == then
        assert await at.answer(at.start(task(setting(a=1)), 2)) == {"a": 1}


async def test_a_host_that_cannot_take_an_answer_does_not_stop_the_others() -> None:
    async with host() as at:
        reported: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: reported.append(context))

        def broken(answer: TaskResult) -> None:
            raise RuntimeError("disk full")

        effect = StartTask(TokenId(1), "n", 1, 1, {})
        at.executor.start(RunId("r"), effect, task(setting(a=1)), LIBRARY, lambda: None, unheard, broken)
        assert await at.answer(at.start(task(setting(a=1)), 2)) == {"a": 1}
        assert [str(context["exception"]) for context in reported] == ["disk full"]


async def test_closing_lets_what_runs_finish_and_begins_nothing_new() -> None:
    executor = Executor(tasks=1)
    at, door = Host(executor), Door()
    at.start(door.task, 1)
    at.start(door.task, 2)
    await settle()
    closing = asyncio.create_task(executor.close(5))
    await settle()
    at.start(door.task, 3)
    door.open()
    await closing
    assert at.heard == ["r:1:1 started", "r:1:1 finished"]


async def test_closing_stops_what_does_not_finish() -> None:
    executor = Executor()
    at, door = Host(executor), Door()
    at.start(door.task)
    await settle()
    await executor.close(0.01)
    assert at.heard == ["r:1:1 started"]
    assert [each for each in asyncio.all_tasks() if each is not asyncio.current_task()] == []


def test_when_the_loop_ends_everything_no_answer_is_made_up() -> None:
    heard: list[TaskResult] = []

    async def leave_without_closing() -> None:
        effect = StartTask(TokenId(1), "n", 1, 1, {})
        given = Task((Step(mock(delay_ms=60_000)),))
        Executor().start(RunId("r"), effect, given, LIBRARY, lambda: None, unheard, heard.append)
        await settle()

    asyncio.run(leave_without_closing())
    assert heard == []
