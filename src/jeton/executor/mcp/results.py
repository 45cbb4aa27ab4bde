"""The result of a tool as plain JSON. Images and other bytes become artifacts of the run. Imports the SDK."""

import base64
import binascii

import mcp_types as types
import msgspec

from jeton.executor.action import ActionCall, ActionFailed
from jeton.executor.mcp.client import value_of
from jeton.model.json import Json, JsonObject
from jeton.model.storable import Flaws, storable, valid_text

LONGEST_ERROR = 4_000

_encode = msgspec.json.Encoder().encode


async def result_value(result: types.CallToolResult, call: ActionCall, most: int) -> Json | ActionFailed:
    """The structured content if there is one, else the text; other parts beside it. `most`: bytes, as JSON."""
    texts = [part.text for part in result.content if isinstance(part, types.TextContent)]
    if result.is_error:
        said = valid_text("\n".join(texts)) or "the tool failed and does not say why"
        return ActionFailed("mcp_tool_error", said[:LONGEST_ERROR])
    try:
        others = [await _part(part, call) for part in result.content if not isinstance(part, types.TextContent)]
    except binascii.Error as problem:
        return ActionFailed("mcp_protocol", f"the result has bytes that are not base64: {problem}")
    value = _value(result, texts, others)
    flaws: Flaws = []
    clean = storable(value, "result", flaws)
    if flaws:
        path, flaw = flaws[0]
        return ActionFailed("bad_result", f"{path}: {flaw}")
    size = len(_encode(clean))
    if size > most:
        return ActionFailed("too_large", f"the result has {size} bytes, and max_result_bytes is {most}")
    return clean


def _value(result: types.CallToolResult, texts: list[str], others: list[Json]) -> Json:
    structured: Json = result.structured_content
    if structured is None:
        plain: JsonObject = {"text": "\n".join(texts)}
        return {**plain, "parts": others} if others else plain
    if not others:
        return structured
    return {**(structured if isinstance(structured, dict) else {"result": structured}), "_parts": others}


async def _part(part: types.ContentBlock, call: ActionCall) -> Json:
    match part:
        case types.ImageContent() | types.AudioContent():
            return {"type": part.type, "artifact": await _artifact(part.data, part.mime_type, call)}
        case types.EmbeddedResource(resource=types.BlobResourceContents() as blob):
            media_type = blob.mime_type or "application/octet-stream"
            return {"type": "resource", "uri": blob.uri, "artifact": await _artifact(blob.blob, media_type, call)}
        case types.EmbeddedResource(resource=types.TextResourceContents() as text):
            return {"type": "resource", "uri": text.uri, "text": text.text}
        case _:
            return value_of(part)


async def _artifact(data: str, media_type: str, call: ActionCall) -> Json:
    content = base64.b64decode(data, validate=True)
    found = await call.resources.artifacts.write(call.call.run, content, media_type)
    return {"id": found.id, "media_type": found.media_type, "size": found.size}
