"""Bytes that a function gives or takes, as artifacts of its run: a run's state has references only."""

import asyncio
from collections.abc import Mapping
from typing import cast

import msgspec

from jeton.executor.action import ActionCall, ActionFailed
from jeton.executor.artifacts import ArtifactMissing, ArtifactTooLarge
from jeton.executor.python.bytes_paths import Contents, Path, put
from jeton.executor.python.extract_bytes import ExtractedBytes
from jeton.model.json import Json

MEDIA_TYPE = "application/octet-stream"
MOST_GIVEN_BYTES = 64 * 1024 * 1024  # they are in memory, all at once, for as long as the function runs


async def keep(lifted: ExtractedBytes, call: ActionCall) -> tuple[Json, ExtractedBytes]:
    """The value with references where the bytes were, and what was kept: the same without secrets.

    What is kept twice, as after a crash, is one artifact all the same. Raises ArtifactTooLarge."""
    clean = await _without_secrets(lifted, call)
    value: object = msgspec.to_builtins(clean.value)
    for path, content in clean.contents:
        reference = await call.resources.artifacts.write(call.call.run, content, MEDIA_TYPE)
        value = put(value, path, msgspec.structs.asdict(reference))
    return cast("Json", value), clean


async def fetch(references: Mapping[Path, str], call: ActionCall) -> Contents | ActionFailed:
    """The contents that a function is to be called with, from the artifacts; the run holds them from now on."""
    contents: dict[Path, bytes] = {}
    left = MOST_GIVEN_BYTES
    for path, id in references.items():
        try:
            _, contents[path] = await call.resources.artifacts.read(call.call.run, id, left)
        except ArtifactMissing as missing:
            return ActionFailed("not_found", f"{_shown(path)}: {missing}")
        except ArtifactTooLarge:
            problem = f"with it the contents have more than {MOST_GIVEN_BYTES} bytes, which is the most of one call"
            return ActionFailed("too_large", f"{_shown(path)}: {problem}")
        left -= len(contents[path])
    return contents


async def _without_secrets(lifted: ExtractedBytes, call: ActionCall) -> ExtractedBytes:
    """Only the bytes are looked at here: text is redacted with the whole result."""
    redactor = call.secrets.redactor()
    if redactor is None:
        return lifted
    clean = [(path, await asyncio.to_thread(redactor.data, content)) for path, content in lifted.contents]
    return ExtractedBytes(lifted.value, tuple(clean))


def _shown(path: Path) -> str:
    return f"input '{'.'.join(map(str, path))}'"
