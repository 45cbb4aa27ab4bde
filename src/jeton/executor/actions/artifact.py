"""`artifact`: store content outside the state of a run, which has a reference `{id, media_type, size}` instead.

With a `root`, content is read from and written to a file below it, and does not pass through the task.
"""

import re
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, Literal

import msgspec

from jeton.executor.action import ActionCall, ActionFailed, ActionHandler, Kind, KindProblem
from jeton.executor.actions.file import (
    MAX_BYTES,
    BadContent,
    Encoding,
    TooLarge,
    decoded,
    encoded,
    path_failure,
    read_file,
    write_file,
)
from jeton.executor.artifacts import ArtifactMissing, ArtifactTooLarge
from jeton.executor.roots import PathRefused, RootUnknown, root_named
from jeton.model.json import Json, JsonObject

DEFAULT_BYTES = 1024 * 1024
MEDIA_TYPE = re.compile(r"[\w.+-]+/[\w.+-]+(; ?[\w.+-]+=[\w.+-]+)*")


class Artifact(Kind, frozen=True):
    """One operation on the artifacts of the run."""

    operation: Literal["read", "write", "list", "delete"]
    media_type: str = "application/octet-stream"
    encoding: Encoding = "text"
    root: str | None = None
    max_bytes: int = DEFAULT_BYTES

    def problems(self) -> Iterator[KindProblem]:
        if not MEDIA_TYPE.fullmatch(self.media_type):
            yield KindProblem(
                "media_type", f"{self.media_type!r} is not a media type", "write one like 'text/markdown'"
            )
        if not 0 < self.max_bytes <= MAX_BYTES:
            yield KindProblem("max_bytes", f"is {self.max_bytes}", f"write a number from 1 to {MAX_BYTES}")

    def prepare(self) -> ActionHandler:
        operations: dict[str, Callable[[ActionCall, JsonObject], Coroutine[Any, Any, Json]]] = {
            "read": self._read,
            "write": self._write,
            "list": self._list,
            "delete": self._delete,
        }
        operate = operations[self.operation]

        async def act(call: ActionCall) -> Json | ActionFailed:
            try:
                return await operate(call, call.input if isinstance(call.input, dict) else {})
            except (RootUnknown, PathRefused) as error:
                return path_failure(error)
            except BadContent as bad:
                return ActionFailed("input_invalid", str(bad))
            except (ArtifactMissing, FileNotFoundError) as missing:
                return ActionFailed("not_found", str(missing))
            except (TooLarge, ArtifactTooLarge) as large:
                return ActionFailed("too_large", f"it {large}" if isinstance(large, TooLarge) else str(large))

        return act

    async def _write(self, call: ActionCall, given: JsonObject) -> Json:
        content = await self._content(call, given)
        reference = await call.resources.artifacts.write(call.call.run, content, self.media_type)
        return msgspec.structs.asdict(reference)

    async def _read(self, call: ActionCall, given: JsonObject) -> Json:
        reference, content = await call.resources.artifacts.read(call.call.run, _text(given, "id"), self.max_bytes)
        about = msgspec.structs.asdict(reference)
        if self.root is None:
            return {**about, **decoded(content, self.encoding)}
        root, path = root_named(self.root, call.settings, call.resources.folder), _text(given, "path")
        await call.resources.threads.run(lambda: write_file(root, path, content))
        return {**about, "path": path}

    async def _list(self, call: ActionCall, _: JsonObject) -> Json:
        found = await call.resources.artifacts.list(call.call.run)
        return {"artifacts": [msgspec.structs.asdict(reference) for reference in found]}

    async def _delete(self, call: ActionCall, given: JsonObject) -> Json:
        return {"deleted": await call.resources.artifacts.delete(call.call.run, _text(given, "id"))}

    async def _content(self, call: ActionCall, given: JsonObject) -> bytes:
        if self.root is None:
            return encoded(given, self.encoding, self.max_bytes)
        root, path = root_named(self.root, call.settings, call.resources.folder), _text(given, "path")
        return await call.resources.threads.run(lambda: read_file(root, path, self.max_bytes))


def _text(given: JsonObject, key: str) -> str:
    value = given.get(key)
    if not isinstance(value, str):
        raise BadContent(f"needs '{key}', a string")
    return value
