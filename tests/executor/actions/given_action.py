"""One action, called as a step would, with real programs, files and processes behind it."""

from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from jeton.executor import LoopClock, Resources, TaskCall, ThreadPool, compile_task, run_task
from jeton.executor.task.notes import LoopThread, NoteLimiter
from jeton.executor.task.run_task import TaskResult
from jeton.model.definition.profile import ModelProfile
from jeton.model.definition.task import Action
from jeton.model.definition.workflow import Library
from jeton.model.failure import TaskFailed
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.note import Note
from tests.executor.given import task


class Bench:
    """Resources in a folder, and calls that use them."""

    def __init__(self, folder: Path, **resources: Any) -> None:
        self.folder = folder
        self.settings: JsonObject = {"files": {"workspace": "workspace"}, "shell": {"scripts": True}}
        self.profiles: dict[str, ModelProfile] = {}
        self.heard: list[Note] = []
        self.resources = Resources(LoopClock(), ThreadPool(4), folder=folder, **resources)

    @property
    def workspace(self) -> Path:
        folder = self.folder / "workspace"
        folder.mkdir(exist_ok=True)
        return folder

    async def call(
        self, action: Action, input: JsonObject | None = None, run: str = "r1", token: int = 7
    ) -> TaskResult:
        """What a task of this one action gives."""
        call = TaskCall(RunId(run), TokenId(token), "judge", 1, {} if input is None else input)
        ready = compile_task(task(action), Library(settings=self.settings, model_profiles=self.profiles))
        return await run_task(call, ready, self.resources, NoteLimiter(partial(LoopThread().call, self.heard.append)))

    async def close(self) -> None:
        await self.resources.processes.close()
        self.resources.threads.close()


def action(kind: str, **implementation: Json) -> Action:
    return Action(kind, implementation)


def failed(answer: TaskResult) -> TaskFailed:
    assert isinstance(answer, TaskFailed), answer
    return answer


def succeeded(answer: TaskResult) -> JsonObject:
    assert isinstance(answer, dict), answer
    return answer


def limited(given: Action, **execution: Any) -> Action:
    """The action with something under `execution`."""
    return msgspec.convert({**msgspec.to_builtins(given), "execution": execution}, Action)
