"""Bytes in the arguments and results of functions, stored as artifacts of the run."""

import asyncio
from collections.abc import Mapping
from typing import cast

import msgspec

from jeton.executor.action import ActionCall, ActionFailed
from jeton.executor.artifacts import ArtifactMissing, ArtifactTooLarge
from jeton.executor.python.bytes_paths import Contents, Path, set_at
from jeton.executor.python.extract_bytes import ExtractedBytes
from jeton.model.json import Json

MEDIA_TYPE = "application/octet-stream"
MAX_INPUT_BYTES = 64 * 1024 * 1024  # all of them are in memory while the function runs


async def store_bytes(extracted: ExtractedBytes, call: ActionCall) -> tuple[Json, ExtractedBytes]:
    """Store the bytes of a result as artifacts. Gives the value with references, and the redacted bytes.

    Storing the same bytes again, as after a crash, gives the same artifact. Raises ArtifactTooLarge."""
    redacted = await _redact(extracted, call)
    value: object = msgspec.to_builtins(redacted.value)
    for path, content in redacted.contents:
        reference = await call.resources.artifacts.write(call.call.run, content, MEDIA_TYPE)
        value = set_at(value, path, msgspec.structs.asdict(reference))
    return cast("Json", value), redacted


async def load_bytes(references: Mapping[Path, str], call: ActionCall) -> Contents | ActionFailed:
    """Load the artifacts that a function takes as bytes. The run holds them from now on."""
    contents: dict[Path, bytes] = {}
    left = MAX_INPUT_BYTES
    for path, id in references.items():
        try:
            _, contents[path] = await call.resources.artifacts.read(call.call.run, id, left)
        except ArtifactMissing as missing:
            return ActionFailed("not_found", f"{_input_name(path)}: {missing}")
        except ArtifactTooLarge:
            problem = f"the contents of one call are larger than {MAX_INPUT_BYTES} bytes together"
            return ActionFailed("too_large", f"{_input_name(path)}: {problem}")
        left -= len(contents[path])
    return contents


async def _redact(extracted: ExtractedBytes, call: ActionCall) -> ExtractedBytes:
    """Redact the bytes. Text is redacted later, with the whole result."""
    redactor = call.secrets.redactor()
    if redactor is None:
        return extracted
    redacted = [(path, await asyncio.to_thread(redactor.data, content)) for path, content in extracted.contents]
    return ExtractedBytes(extracted.value, tuple(redacted))


def _input_name(path: Path) -> str:
    return f"input '{'.'.join(map(str, path))}'"
