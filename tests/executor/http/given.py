"""Short ways to make an HTTP call in a task, over the network, with a clock on which delays take no time."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from jeton.executor import LoopClock, Resources, TaskCall, ThreadPool, compile_task, run_task
from jeton.executor.http.connections import Connections, Resolver, resolve
from jeton.executor.task.run_task import TaskResult
from jeton.model.definition.task import Action, Execution, RetryPolicy, Step, Task
from jeton.model.definition.workflow import Library
from jeton.model.failure import TaskFailed
from jeton.model.json import Json, JsonObject
from tests.executor.given import NODE, RUN, TOKEN

LOOPBACK: JsonObject = {"http": {"allow": ["127.0.0.0/8"]}}


class HurriedClock(LoopClock):
    """Notes how long it was asked to wait, and does not. Limits are real: what they guard against is."""

    def __init__(self) -> None:
        self.slept: list[int] = []

    async def sleep(self, ms: int) -> None:
        self.slept.append(ms)


class Caller:
    """Makes calls in one project."""

    def __init__(self, resources: Resources, clock: HurriedClock, settings: JsonObject) -> None:
        self.resources = resources
        self.clock = clock
        self.settings = settings

    async def call(
        self, url: str, input: JsonObject | None = None, *, attempts: int = 1, **implementation: Json
    ) -> TaskResult:
        """What a task with one http step gives."""
        execution = Execution(retry_policy=RetryPolicy(attempts))
        return await self.run(Action("http", {"url": url, **implementation}, execution=execution), input)

    async def run(self, action: Action, input: JsonObject | None = None) -> TaskResult:
        task = compile_task(Task((Step(action, ref="call"),)), Library(settings=self.settings))
        return await run_task(TaskCall(RUN, TOKEN, NODE, 1, {} if input is None else input), task, self.resources)

    async def fails(
        self, url: str, input: JsonObject | None = None, *, attempts: int = 1, **implementation: Json
    ) -> TaskFailed:
        failed = await self.call(url, input, attempts=attempts, **implementation)
        assert isinstance(failed, TaskFailed), failed
        return failed

    async def gives(
        self, url: str, input: JsonObject | None = None, *, attempts: int = 1, **implementation: Json
    ) -> JsonObject:
        given = await self.call(url, input, attempts=attempts, **implementation)
        assert isinstance(given, dict), given
        return given


@asynccontextmanager
async def caller(settings: JsonObject = LOOPBACK, resolver: Resolver = resolve) -> AsyncGenerator[Caller]:
    """A project that may call loopback, unless its settings say otherwise."""
    clock, threads, connections = HurriedClock(), ThreadPool(2), Connections(resolver)
    try:
        yield Caller(Resources(clock, threads, connections=connections), clock, settings)
    finally:
        await connections.close()
        threads.close()
