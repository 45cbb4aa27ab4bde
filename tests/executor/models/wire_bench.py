"""Calls of real clients on a real clock, against a server on loopback."""

from pathlib import Path
from typing import Any

import msgspec

from jeton.executor import LoopClock, Resources, TaskCall, ThreadPool, compile_task, run_task
from jeton.executor.artifacts import Artifacts
from jeton.executor.task.notes import NoteLimiter
from jeton.executor.task.run_task import TaskResult
from jeton.model.chat import Delta, ModelAnswer, ModelFailed, ModelReply, ModelRequest
from jeton.model.definition.profile import ModelProfile
from jeton.model.definition.task import Action, RetryPolicy
from jeton.model.definition.workflow import Library
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.note import Note, RetryNote
from tests.executor.given import task
from tests.executor.models.given_model import model_action
from tests.executor.models.wire_server import WireServer

MODELS = {
    "openai": "gpt-4.1",
    "openai_responses": "gpt-4.1",
    "anthropic": "claude-opus-4-5",
    "google": "gemini-2.5-flash",
}
SECRET = "sk-do-not-tell-anyone"


class WireBench:
    """Resources whose model clients speak with one server."""

    def __init__(self, server: WireServer, folder: Path) -> None:
        self.server = server
        self.notes: list[Note] = []
        self.deltas: list[Delta] = []
        self.profiles: dict[str, ModelProfile] = {}
        self.settings: JsonObject = {"secrets": {"key": {"env": "JETON_WIRE_KEY"}}}
        self.resources = Resources(LoopClock(), ThreadPool(2), artifacts=Artifacts(folder / "artifacts"))
        self.resources.deltas.listen("r1", self.deltas.append)

    def profile(self, provider: str, **fields: Any) -> ModelProfile:
        """The profile of a provider at this server, with three attempts and no delays."""
        fields.setdefault("model", MODELS[provider])
        fields.setdefault("retry_policy", RetryPolicy(3))
        fields.setdefault("timeout_ms", 5_000)
        return ModelProfile(provider, base_url=self.server.url(provider), api_key="key", **fields)

    async def ask(self, request: ModelRequest, *, attempt: int = 1) -> ModelReply:
        """The reply to a request."""
        found = await self.run(*model_action(request), attempt=attempt)
        assert isinstance(found, dict), found
        return msgspec.convert(found, ModelAnswer | ModelFailed)

    async def run(self, action: Action, input: Json, *, attempt: int = 1) -> TaskResult:
        """What a task of this one action gives."""
        call = TaskCall(RunId("r1"), TokenId(7), "ask", attempt, input)
        ready = compile_task(task(action), Library(settings=self.settings, model_profiles=self.profiles))
        return await run_task(call, ready, self.resources, NoteLimiter(self.notes.append))

    @property
    def retries(self) -> list[RetryNote]:
        return [note for note in self.notes if isinstance(note, RetryNote)]

    @property
    def heard(self) -> str:
        """The text as a listener puts it together."""
        text = ""
        for delta in self.deltas:
            assert delta.at <= len(text), "a piece is missing"
            text = text[: delta.at] + delta.text
        return text

    async def close(self) -> None:
        await self.resources.models.close()
        self.resources.threads.close()
