"""Model calls, made as a conversation makes them, in virtual time."""

from collections.abc import Coroutine
from typing import Any, TypeVar

import msgspec

from jeton.executor import Resources, TaskCall, ThreadPool, VirtualClock, compile_task, run_task
from jeton.executor.secrets import SecretStore
from jeton.executor.task.notes import NoteLimiter
from jeton.executor.task.run_task import TaskResult
from jeton.model.chat import Delta, ModelAnswer, ModelFailed, ModelReply, ModelRequest, ScriptPlace, UserMessage
from jeton.model.definition.profile import ModelProfile
from jeton.model.definition.task import Action, RetryPolicy
from jeton.model.definition.workflow import Library
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.note import Note, RetryNote, TokensNote
from jeton.model.state.ranges import to_ranges
from tests.executor.given import task

Value = TypeVar("Value")
NO_DELAY = RetryPolicy(4)


def scripted(*script: JsonObject, **fields: Any) -> ModelProfile:
    """A scripted profile whose retries take no time."""
    fields.setdefault("retry_policy", NO_DELAY)
    return ModelProfile("scripted", script=script, **fields)


def asking(profile: str = "fake", *, text: str = "hello", used: tuple[int, ...] = (), **fields: Any) -> ModelRequest:
    """A request with one chat message."""
    place = fields.pop("script", ScriptPlace(used=to_ranges(used), message=text))
    return ModelRequest(profile, fields.pop("messages", (UserMessage(text),)), script=place, **fields)


def model_action(request: ModelRequest) -> tuple[Action, JsonObject]:
    """The action of a conversation's model call, and its input."""
    fields: JsonObject = msgspec.to_builtins(request)
    tools = fields.pop("tools", [])
    return Action("model", {"tools": tools}), {"instructions": "", **fields}


class Bench:
    """Resources in virtual time, what tasks report, and what listeners hear."""

    def __init__(self, *, settings: JsonObject | None = None, **profiles: ModelProfile) -> None:
        self.clock = VirtualClock()
        self.notes: list[Note] = []
        self.deltas: list[Delta] = []
        self.resources = Resources(self.clock, ThreadPool(1), secrets=SecretStore(), wall_clock=self.clock.now)
        self.library = Library(settings=settings or {}, model_profiles=profiles)
        self.resources.deltas.listen("r1", self.deltas.append)

    def call(self, request: ModelRequest, delivery: int = 1) -> ModelReply:
        """The reply. Fails if the call waits for anything real."""
        answer = run_now(self.result(*model_action(request), delivery))
        assert isinstance(answer, dict), answer
        return msgspec.convert(answer, ModelAnswer | ModelFailed)

    async def result(self, action: Action, input: Json, delivery: int = 1) -> TaskResult:
        """What the task of a model call gives."""
        call = TaskCall(RunId("r1"), TokenId(7), "ask", 1, input, delivery=delivery)
        ready = compile_task(task(action), self.library)
        return await run_task(call, ready, self.resources, NoteLimiter(self.notes.append))

    @property
    def retries(self) -> list[RetryNote]:
        return [note for note in self.notes if isinstance(note, RetryNote)]

    @property
    def tokens(self) -> list[TokensNote]:
        return [note for note in self.notes if isinstance(note, TokensNote)]

    @property
    def heard(self) -> str:
        """The text as a listener puts it together."""
        text = ""
        for delta in self.deltas:
            assert delta.at <= len(text), "a piece is missing"
            text = text[: delta.at] + delta.text
        return text


def run_now(work: Coroutine[Any, Any, Value]) -> Value:
    """The result of work that waits for nothing real."""
    try:
        work.send(None)
    except StopIteration as end:
        value: Value = end.value
        return value
    work.close()
    raise AssertionError("it waited for something real")


def answered(reply: ModelReply) -> ModelAnswer:
    assert isinstance(reply, ModelAnswer), reply
    return reply


def refused(reply: ModelReply) -> ModelFailed:
    assert isinstance(reply, ModelFailed), reply
    return reply
