"""What an answer means: a result, a business failure, or one that passes."""

import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

import msgspec
from httpcore2 import Response

from jeton.executor.action import ActionCall, ActionFailed
from jeton.executor.http.body import BodyRefused, as_json, as_text, media_type_of, unpacked
from jeton.executor.http.implementation import HttpLimits
from jeton.model.json import Json, JsonObject

if TYPE_CHECKING:
    from jeton.executor.actions.http import Http

EXCERPT: Final = 300  # characters of what a server says against a call
EXCERPT_BYTES: Final = 4_096
EXCERPT_READ: Final = 10_485_760  # at most, for those: a packed body may be long before it says anything


def headers_of(response: Response, limits: HttpLimits) -> dict[str, str]:
    """By name in small letters; one that came several times is one, with commas."""
    if sum(len(name) + len(value) for name, value in response.headers) > limits.header_bytes:
        problem = f"the headers are larger than {limits.header_bytes} bytes (limits.header_bytes)"
        raise BodyRefused("http_headers_too_large", problem)
    headers: dict[str, str] = {}
    for raw_name, raw_value in response.headers:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


async def answer(
    http: "Http", response: Response, headers: dict[str, str], call: ActionCall, what: str
) -> Json | ActionFailed:
    """`{status, headers, json | text | artifact}` if the status is below 400 or allowed, a failure otherwise."""
    status = response.status
    if status >= 400 and status not in http.allow_status:
        said = await _excerpt(response, headers, call)
        message = f"{what} is answered with {status}{_phrase(status)}" + (f": {said}" if said else "")
        if status != 429 and status < 500:
            return ActionFailed("http_status", message)
        wait_ms = retry_after_ms(headers.get("retry-after"), time.time())
        if wait_ms is not None and wait_ms > http.limits.retry_after_ms:
            problem = f"; it asks to wait {wait_ms} ms, and limits.retry_after_ms is {http.limits.retry_after_ms}"
            return ActionFailed("http_status", message + problem)
        return ActionFailed("http_status", message, transient=True, retry_after_ms=wait_ms)
    made: JsonObject = {"status": status, "headers": {**headers}}
    return {**made, **await _body(http, response, headers, call)}


def retry_after_ms(value: str | None, now: float) -> int | None:
    """`Retry-After`, in seconds or as a date; nothing if it says neither."""
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
    async with aclosing(unpacked(response, headers, most, limit)) as pieces:
        async for piece in pieces:
            body += piece
            if above is not None and len(body) > above:
                return {"artifact": await _saved(bytes(body), pieces, media_type.name, call)}
    if media_type.is_json and body:
        return {"json": as_json(bytes(body))}
    return {"text": as_text(bytes(body), media_type)}


async def _saved(begun: bytes, pieces: AsyncIterator[bytes], media_type: str, call: ActionCall) -> JsonObject:
    """The whole body as an artifact, without the secrets that a server may have repeated in it."""
    redactor, artifacts = call.secrets.redactor(), call.resources.artifacts
    whole = _all(begun, pieces)
    async with aclosing(whole), aclosing(whole if redactor is None else redactor.stream(whole)) as clean:
        kept: JsonObject = msgspec.to_builtins(await artifacts.save(call.call.run, clean, media_type))
    return kept


async def _all(begun: bytes, pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
    yield begun
    async for piece in pieces:
        yield piece


async def _excerpt(response: Response, headers: dict[str, str], call: ActionCall) -> str:
    """The beginning of a body, on one line. Secrets go before it is cut: half of one would not be recognised."""
    redactor, said = call.secrets.redactor(), bytearray()
    try:
        pieces = unpacked(response, headers, EXCERPT_READ, "")
        async with aclosing(pieces), aclosing(pieces if redactor is None else redactor.stream(pieces)) as clean:
            async for piece in clean:
                said += piece
                if len(said) >= EXCERPT_BYTES:
                    break
    except BodyRefused:
        return ""
    return shortened(said.decode("utf-8", "replace"))


def shortened(text: str) -> str:
    """What a server says, as a message quotes it: one line, with nothing in it that a terminal would act on."""
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text if len(text) <= EXCERPT else text[: EXCERPT - 1] + "…"


def _phrase(status: int) -> str:
    """Its usual name; what the server calls it is not repeated."""
    try:
        return f" {HTTPStatus(status).phrase}"
    except ValueError:
        return ""
