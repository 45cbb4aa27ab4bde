"""A run as a file: to be imported elsewhere, as a script for tests, or as OpenTelemetry spans."""

import asyncio
import json
from os import PathLike
from typing import Literal, TypeAlias

from jeton.engine.engine import Engine
from jeton.engine.stores import export_from
from jeton.model.json import JsonObject

Form: TypeAlias = Literal["file", "script", "spans"]


async def exported(engine: Engine, store: str | PathLike[str], run: str, form: Form, contents: bool) -> bytes:
    """The content of the file. `contents`: spans also have what was said, and inputs and results of tools."""
    match form:
        case "script":
            return _text(
                {"model_profiles": {"recorded": {"provider": "scripted", "script": await _script(engine, run)}}}
            )
        case "spans":
            return _text(await _spans(engine, run, contents))
        case "file":
            return await asyncio.to_thread(export_from, store, run)


async def _script(engine: Engine, conversation: str) -> list[JsonObject]:
    """What a conversation's models said."""
    return await (await engine.converse("", conversation=conversation)).script()


async def _spans(engine: Engine, run: str, contents: bool) -> JsonObject:
    """A run and all that it called, as far as they have ended, as one request of the OpenTelemetry protocol."""
    from jeton.telemetry.collect import spans_below  # only this form needs it
    from jeton.telemetry.otlp import otlp_json

    return otlp_json([span async for span in spans_below(engine, run, contents=contents)])


def _text(value: object) -> bytes:
    return json.dumps(value, indent=2, ensure_ascii=False).encode()
