"""Results of a simulated workflow's tasks: made from their schemas, or computed by the executor.

A result depends on the call alone: not on the seed, and not on anything that depends on the schedule, such as a token's
number. So a difference between two seeds comes from the workflow itself.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import TypeAlias
from zlib import crc32

import msgspec

from jeton.executor import CompiledTask, Resources, TaskCall, ThreadPool, VirtualClock, compile_task, run_task
from jeton.executor.artifacts import Artifacts
from jeton.executor.limits.idempotency import MemoryIdempotencyStore
from jeton.executor.signals import Signals
from jeton.hosts.simulated.script import Answer, Script, ScriptedCall, answer_of
from jeton.hosts.simulated.world import World
from jeton.model.definition.task import Action, AsksInput, Step, Suspended, Task
from jeton.model.definition.workflow import Library
from jeton.model.failure import BrokenInvariant, TaskFailed
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.reference import name_of
from jeton.planning.program.workflow import Program
from jeton.testing.trials.signals import TrialSignals

PURE = frozenset({"assert", "context", "emit", "fail", "metric", "mock", "signal"})
"""ActionKinds without effects outside of the simulation, which are always executed."""

Result: TypeAlias = Json | TaskFailed | Suspended | AsksInput

_encode = msgspec.json.Encoder(order="deterministic").encode


class TaskRunner:
    """Tasks compiled once for all seeds, and the loop that runs them."""

    def __init__(self, library: Library, program: Callable[[str], Program], *, real: bool) -> None:
        self._library = library
        self._program = program
        self._run = PURE | {"python"} if real else PURE
        self._ready: dict[tuple[str, str], CompiledTask] = {}
        self._runner = asyncio.Runner()
        self._threads = ThreadPool(1)
        self._folder = TemporaryDirectory()
        self._artifacts = Artifacts(Path(self._folder.name))

    def __enter__(self) -> "TaskRunner":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._threads.close()
        self._runner.close()
        self._folder.cleanup()

    def work(self, call: ScriptedCall, keys: MemoryIdempotencyStore, signals: Signals) -> tuple[Result, int]:
        """The task's result, and how long it waited by its virtual clock."""
        task = self._task(call.workflow, call.node)
        clock = VirtualClock()
        asked = TaskCall(
            RunId(call.workflow),
            _token(call),
            call.node,
            call.attempt,
            call.input,
            facts=call.facts,
            continuation=call.continuation,
        )
        resources = Resources(
            clock,
            self._threads,
            artifacts=self._artifacts,
            idempotency=keys,
            wall_clock=lambda: call.at + clock.now(),
            signals=signals,
        )
        work = run_task(asked, task, resources)
        if task.lane != "instant":
            return self._runner.run(work), clock.now()
        try:
            work.send(None)
        except StopIteration as end:
            answer: Result = end.value
            return answer, clock.now()
        raise BrokenInvariant("a task in the instant lane waited", node=call.node)

    def _task(self, workflow: str, node: str) -> CompiledTask:
        key = (workflow, node)
        if key not in self._ready:
            task = self._program(workflow).nodes[node].task
            if task is None:
                raise BrokenInvariant("a node without a task was dispatched", node=node)
            self._ready[key] = compile_task(self._mocked(task), self._library)
        return self._ready[key]

    def _mocked(self, task: Task) -> Task:
        """The task with mocks for actions that are not executed; one for all its steps if it has an output schema."""
        actions = [self._named(step.action) for step in task.steps]
        if all(action is not None and self._is_run(action) for action in actions):
            steps = [msgspec.structs.replace(s, action=_in_thread(a)) for s, a in zip(task.steps, actions, strict=True)]
        elif task.output_schema is not None:
            steps = [Step(_mock(Action("mock", output_schema=task.output_schema)), ref="mocked")]
            # signals are sent all the same; the task's output is made up as a whole, so they add nothing to it
            steps += [
                msgspec.structs.replace(step, action=action, output_mapping={})
                for step, action in zip(task.steps, actions, strict=True)
                if action is not None and action.kind == "signal"
            ]
        else:
            steps = [
                msgspec.structs.replace(step, action=self._run_or_mocked(action))
                for step, action in zip(task.steps, actions, strict=True)
            ]
        return msgspec.structs.replace(task, steps=tuple(steps))

    def _run_or_mocked(self, action: Action | None) -> Action:
        if action is not None and self._is_run(action):
            return _in_thread(action)
        return _mock(action or Action("mock"))

    def _is_run(self, action: Action) -> bool:
        """Whether an action is executed. Models are, if a script has their answers; agents may then call tools too."""
        if action.kind != "model":
            return action.kind in self._run
        profile = self._library.model_profiles.get(name_of(str(action.implementation.get("profile", ""))))
        return profile is not None and profile.provider == "scripted"

    def _named(self, action: str | Action) -> Action | None:
        if isinstance(action, Action):
            return action
        return self._library.actions.get(action) or self._library.actions.get(name_of(action))


class TaskScript(Script):
    """The results of one world's tasks. Each is delayed by a time that depends on the seed."""

    def __init__(self, tasks: TaskRunner, seed: int, slowest_ms: int) -> None:
        super().__init__(seed=seed)
        self._tasks = tasks
        self._keys = MemoryIdempotencyStore()
        self._slowest_ms = slowest_ms
        self.world: World | None = None  # whose runs are sent signals

    def answer(self, call: ScriptedCall) -> Answer:
        if self.world is None:
            raise BrokenInvariant("a task began before its world was known", node=call.node)
        signals = TrialSignals(self.world, call)
        found, waited_ms = self._tasks.work(call, self._keys, signals)
        answer = answer_of(found, waited_ms + self.chance(call).randint(1, self._slowest_ms))
        return msgspec.structs.replace(answer, signals=signals.take())


def _token(call: ScriptedCall) -> TokenId:
    """A number that is the same under every schedule: mocks derive their data from it."""
    return TokenId(crc32(f"{call.path}/{call.visit}/".encode() + _encode(call.input)))


def _mock(action: Action) -> Action:
    made: JsonObject = {"output": {}} if action.output_schema is None else {"schema": action.output_schema}
    if action.kind == "model":
        made = {"output": {"kind": "answer", "text": "An answer."}}
    return Action("mock", made, action.input_schema, action.output_schema)


def _in_thread(action: Action | None) -> Action:
    """The action without isolation: processes would be slow, and find nothing more."""
    return Action("mock") if action is None else msgspec.structs.replace(action, isolation=None)
