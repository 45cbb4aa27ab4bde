"""What the tasks of a simulated workflow answer: made from their schemas, or worked out by the executor.

An answer follows from the call and from nothing else: not from the seed, and not from numbers that follow from the
order of things, such as a token's. So whatever differs between two seeds is the workflow's doing.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import TypeAlias
from zlib import crc32

import msgspec

from jeton.executor import CompiledTask, Resources, TaskCall, ThreadPool, VirtualClock, compile_task, run_task
from jeton.executor.artifacts import Artifacts
from jeton.executor.limits.idempotency import MemoryIdempotencyStore
from jeton.hosts.simulated.script import Answer, Call, Script, answer_of
from jeton.model.definition.task import Action, Step, Suspended, Task
from jeton.model.definition.workflow import Library
from jeton.model.failure import BrokenInvariant, TaskFailed
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.reference import name_of
from jeton.planning.program.workflow import Program

PURE = frozenset({"assert", "context", "emit", "metric", "mock"})
"""Kinds that touch nothing outside: they are always really run."""

Result: TypeAlias = Json | TaskFailed | Suspended

_encode = msgspec.json.Encoder(order="deterministic").encode


class Bench:
    """Tasks made ready once for all seeds, and the loop on which functions run."""

    def __init__(self, library: Library, programs: Mapping[str, Program], *, real: bool) -> None:
        self._library = library
        self._programs = programs
        self._run = PURE | {"python"} if real else PURE
        self._ready: dict[tuple[str, str], CompiledTask] = {}
        self._runner = asyncio.Runner()
        self._threads = ThreadPool(1)
        self._folder = TemporaryDirectory()
        self._artifacts = Artifacts(Path(self._folder.name))

    def __enter__(self) -> "Bench":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._threads.close()
        self._runner.close()
        self._folder.cleanup()

    def work(self, call: Call, keys: MemoryIdempotencyStore) -> tuple[Result, int]:
        """What the task gives, and how long that takes by its own clock."""
        task = self._task(call.workflow, call.node)
        clock = VirtualClock()
        asked = TaskCall(RunId(call.workflow), _token(call), call.node, call.attempt, call.input)
        resources = Resources(
            clock, self._threads, artifacts=self._artifacts, idempotency=keys, wall_clock=lambda: call.at + clock.now()
        )
        work = run_task(asked, task, resources)
        if task.lane != "instant":
            return self._runner.run(work), clock.now()
        try:
            work.send(None)
        except StopIteration as end:
            answer: Result = end.value
            return answer, clock.now()
        raise BrokenInvariant("a task that says it never waits has waited", node=call.node)

    def _task(self, workflow: str, node: str) -> CompiledTask:
        place = (workflow, node)
        if place not in self._ready:
            task = self._programs[workflow].nodes[node].task
            if task is None:
                raise BrokenInvariant("only a node with a task is worked on", node=node)
            self._ready[place] = compile_task(self._mocked(task), self._library)
        return self._ready[place]

    def _mocked(self, task: Task) -> Task:
        """The same task with everything made up that is not run here: as a whole if it says what it gives."""
        actions = [self._named(step.action) for step in task.steps]
        if all(action is not None and action.kind in self._run for action in actions):
            steps = [msgspec.structs.replace(s, action=_in_thread(a)) for s, a in zip(task.steps, actions, strict=True)]
        elif task.output_schema is not None:
            steps = [Step(_mock(Action("mock", output_schema=task.output_schema)), ref="mocked")]
        else:
            steps = [
                msgspec.structs.replace(step, action=self._run_or_mocked(action))
                for step, action in zip(task.steps, actions, strict=True)
            ]
        return msgspec.structs.replace(task, steps=tuple(steps))

    def _run_or_mocked(self, action: Action | None) -> Action:
        if action is not None and action.kind in self._run:
            return _in_thread(action)
        return _mock(action or Action("mock"))

    def _named(self, action: str | Action) -> Action | None:
        if isinstance(action, Action):
            return action
        return self._library.actions.get(action) or self._library.actions.get(name_of(action))


class BenchScript(Script):
    """The answers of one world. Each takes a while that follows from the seed, on top of what it waits for itself."""

    def __init__(self, bench: Bench, seed: int, slowest_ms: int) -> None:
        super().__init__(seed=seed)
        self._bench = bench
        self._keys = MemoryIdempotencyStore()
        self._slowest_ms = slowest_ms

    def answer(self, call: Call) -> Answer:
        found, waited_ms = self._bench.work(call, self._keys)
        return answer_of(found, waited_ms + self.chance(call).randint(1, self._slowest_ms))


def _token(call: Call) -> TokenId:
    """A number that the same call has under every schedule: what a mock makes up is derived from it."""
    return TokenId(crc32(f"{call.path}/{call.visit}/".encode() + _encode(call.input)))


def _mock(action: Action) -> Action:
    made: JsonObject = {"output": {}} if action.output_schema is None else {"schema": action.output_schema}
    return Action("mock", made, action.input_schema, action.output_schema)


def _in_thread(action: Action | None) -> Action:
    """What is run is run in this process: many processes for many seeds would be slow, and show nothing more."""
    return Action("mock") if action is None else msgspec.structs.replace(action, isolation=None)
