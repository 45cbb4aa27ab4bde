"""Turn a response into a result or a failure, which may be transient."""

import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

import msgspec
from httpcore2 import Response

from jeton.executor.action import ActionCall, ActionFailed
from jeton.executor.http.body import BodyRefused, as_json, as_text, decompressed, media_type_of
from jeton.executor.http.implementation import HttpLimits
from jeton.model.json import Json, JsonObject

if TYPE_CHECKING:
    from jeton.executor.actions.http import Http

EXCERPT: Final = 300  # characters of an error response that are quoted
EXCERPT_BYTES: Final = 4_096
EXCERPT_READ: Final = 10_485_760  # bytes to read for an excerpt, decompressed


def headers_of(response: Response, limits: HttpLimits) -> dict[str, str]:
    """The headers by lower-case name. Repeated headers are joined with commas."""
    if sum(len(name) + len(value) for name, value in response.headers) > limits.header_bytes:
        problem = f"the headers are larger than {limits.header_bytes} bytes (limits.header_bytes)"
        raise BodyRefused("http_headers_too_large", problem)
    headers: dict[str, str] = {}
    for raw_name, raw_value in response.headers:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


async def read_response(
    http: "Http", response: Response, headers: dict[str, str], call: ActionCall, label: str
) -> Json | ActionFailed:
    """`{status, headers, json | text | artifact}` if the status is below 400 or allowed, otherwise a failure."""
    status = response.status
    if status >= 400 and status not in http.allow_status:
        excerpt = await _excerpt(response, headers, call)
        message = f"{label} returned {status}{_phrase(status)}" + (f": {excerpt}" if excerpt else "")
        if status != 429 and status < 500:
            return ActionFailed("http_status", message)
        wait_ms = retry_after_ms(headers.get("retry-after"), time.time())
        if wait_ms is not None and wait_ms > http.limits.retry_after_ms:
            problem = f"; Retry-After is {wait_ms} ms, more than limits.retry_after_ms ({http.limits.retry_after_ms})"
            return ActionFailed("http_status", message + problem)
        return ActionFailed("http_status", message, transient=True, retry_after_ms=wait_ms)
    made: JsonObject = {"status": status, "headers": {**headers}}
    return {**made, **await _body(http, response, headers, call)}


def retry_after_ms(value: str | None, now: float) -> int | None:
    """The delay of `Retry-After`, given in seconds or as a date; None if it is neither."""
    if value is None:
        return None
    if value.strip().isdecimal():
        return int(value.strip()[:12]) * 1000
    try:
        return max(int((parsedate_to_datetime(value).timestamp() - now) * 1000), 0)
    except (ValueError, OverflowError):
        return None


async def _body(http: "Http", response: Response, headers: dict[str, str], call: ActionCall) -> JsonObject:
    media_type, above = media_type_of(headers), http.artifact_above_bytes
    most, limit = http.limits.body_bytes, "limits.body_bytes"
    if above is not None:
        most, limit = http.limits.artifact_bytes, "limits.artifact_bytes"
    body = bytearray()
    async with aclosing(decompressed(response, headers, most, limit)) as chunks:
        async for chunk in chunks:
            body += chunk
            if above is not None and len(body) > above:
                return {"artifact": await _saved(bytes(body), chunks, media_type.name, call)}
    if media_type.is_json and body:
        return {"json": as_json(bytes(body))}
    return {"text": as_text(bytes(body), media_type)}


async def _saved(beginning: bytes, chunks: AsyncIterator[bytes], media_type: str, call: ActionCall) -> JsonObject:
    """Store the body as an artifact, with secrets redacted."""
    redactor, artifacts = call.secrets.redactor(), call.resources.artifacts
    whole = _join(beginning, chunks)
    async with aclosing(whole), aclosing(whole if redactor is None else redactor.stream(whole)) as clean:
        kept: JsonObject = msgspec.to_builtins(await artifacts.save(call.call.run, clean, media_type))
    return kept


async def _join(beginning: bytes, chunks: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
    yield beginning
    async for chunk in chunks:
        yield chunk


async def _excerpt(response: Response, headers: dict[str, str], call: ActionCall) -> str:
    """The beginning of a body, on one line. Secrets are redacted before truncation."""
    redactor, excerpt = call.secrets.redactor(), bytearray()
    try:
        chunks = decompressed(response, headers, EXCERPT_READ, "")
        async with aclosing(chunks), aclosing(chunks if redactor is None else redactor.stream(chunks)) as clean:
            async for chunk in clean:
                excerpt += chunk
                if len(excerpt) >= EXCERPT_BYTES:
                    break
    except BodyRefused:
        return ""
    return shortened(excerpt.decode("utf-8", "replace"))


def shortened(text: str) -> str:
    """A text as error messages quote it: one line, truncated, without control characters."""
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text if len(text) <= EXCERPT else text[: EXCERPT - 1] + "…"


def _phrase(status: int) -> str:
    """The standard phrase of a status. That of the server is not quoted."""
    try:
        return f" {HTTPStatus(status).phrase}"
    except ValueError:
        return ""
