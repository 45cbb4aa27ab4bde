"""HTTP as uvicorn speaks it, with bounds on headers, which neither it nor its parser has."""

import re
import secrets
from asyncio import BaseTransport, TimerHandle, Transport
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, cast

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from jeton.api.app import PROBLEM_TYPE, page_headers
from jeton.api.problems import problem_of
from jeton.model.failure import Refused

MAX_HEADER_BYTES = 16 * 1024
MAX_HEADERS = 64
MAX_URL_BYTES = 8 * 1024
MOST_BEFORE_BODY = MAX_HEADER_BYTES + 4 * MAX_URL_BYTES  # with the URL, whose own bound is checked later
MOST_AFTER = 16 << 20  # is read and thrown away after a refusal
LINGER_S = 2
MOST_OF_A_LINE = 8_000  # the library of WebSockets takes lines of 8,192 bytes
WEBSOCKET_KEY = re.compile(rb"[A-Za-z0-9+/]{21}[AQgw]==")  # 16 bytes in base64
HEAD_S = 20  # for the URL and the headers of a request, from its first byte or the beginning of the connection


TOO_LARGE = Refused("headers_too_large", "more than 64 headers, or more than 16 KiB of them", "send fewer")
NOT_HTTP = Refused(
    "bad_argument", "the request is not valid HTTP/1.1", "check its first line, its headers and its length"
)


def _answer(refused: Refused) -> bytes:
    """The answer to what never reaches the application, as it goes over the wire."""
    request_id = secrets.token_hex(8)
    problem = problem_of(refused, request_id)
    body = msgspec.json.encode(problem)
    headers = {
        "content-type": PROBLEM_TYPE,
        "x-request-id": request_id,
        "cache-control": "no-store",
        **page_headers(),
        "connection": "close",
        "content-length": str(len(body)),
    }
    lines = [f"HTTP/1.1 {problem.status} {HTTPStatus(problem.status).phrase}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


def _brings_a_body(headers: list[tuple[bytes, bytes]]) -> bool:
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and value.strip() != b"0") for name, value in headers
    )


def _is_handshake(url: bytes, headers: list[tuple[bytes, bytes]]) -> bool:
    """Whether the library of WebSockets will take these headers. What it does not take, it answers by itself."""
    keys = [value for name, value in headers if name == b"sec-websocket-key"]
    versions = [value for name, value in headers if name == b"sec-websocket-version"]
    named = {name for name, _ in headers}
    fits = len(url) <= MOST_OF_A_LINE and all(len(name) + len(value) <= MOST_OF_A_LINE for name, value in headers)
    has_key = len(keys) == 1 and WEBSOCKET_KEY.fullmatch(keys[0].strip()) is not None
    return fits and has_key and versions == [b"13"] and named.isdisjoint((b"content-length", b"transfer-encoding"))


class _Lingering:
    """The transport of a request with a body. Closed before all of that has come, it is closed gently."""

    def __init__(self, transport: Transport, close: Callable[[], None]) -> None:
        self._transport = transport
        self.close = close

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class BoundedProtocol(HttpToolsProtocol):
    """Ends a connection whose headers are too many or too long, before anything else is done with it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._before_body = True
        self._received = 0
        self._bytes = 0
        self._count = 0
        self._refused = False
        self._waits: TimerHandle | None = None

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(transport)  # type: ignore[arg-type]
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_came()
        super().connection_lost(exc)

    def _wait_for_head(self) -> None:
        """Whoever sends a request a byte at a time does not hold a connection for ever."""
        self._head_came()
        self._waits = self.loop.call_later(HEAD_S, self.transport.abort)

    def _head_came(self) -> None:
        if self._waits is not None:
            self._waits.cancel()
            self._waits = None

    def data_received(self, data: bytes) -> None:
        if self._refused:
            self._received += len(data)
            if self._received > MOST_AFTER:
                self.transport.abort()
            return
        super().data_received(data)
        if self._before_body:  # all that came so far is a URL and headers
            self._received += len(data)
            if self._received > MOST_BEFORE_BODY:
                self._refuse()

    def on_message_begin(self) -> None:
        if self._refused:
            return
        self._before_body = True
        self._received = self._bytes = self._count = 0
        self._wait_for_head()
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count += 1
        self._bytes += len(name) + len(value)
        if self._count > MAX_HEADERS or self._bytes > MAX_HEADER_BYTES:
            self._refuse()
        if not self._refused:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._before_body = False
        self._head_came()
        if self._refused:
            return
        before: RequestResponseCycle = self.cycle
        super().on_headers_complete()
        if self.cycle is not before and _brings_a_body(self.headers):
            cycle = self.cycle
            lingering: Any = _Lingering(self.transport, lambda: self._close(cycle))
            cycle.transport = lingering

    def on_body(self, body: bytes) -> None:
        if not self._refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        if not self._refused:
            super().on_message_complete()

    def _should_upgrade(self) -> bool:
        """Whether it becomes a socket. What is no proper handshake goes to the application as what it is: a request."""
        return super()._should_upgrade() and self.scope["method"] == "GET" and _is_handshake(self.url, self.headers)

    def _unsupported_upgrade_warning(self) -> None:
        self.cycle.keep_alive = False  # what follows on this connection is not read

    def send_400_response(self, msg: str) -> None:
        """Answer what cannot be parsed: after the requests before it, of which one may still be under way."""
        cycle = cast("RequestResponseCycle | None", self.cycle)  # None before the first request
        if cycle is None or cycle.response_complete:
            self._refuse(NOT_HTTP)
        elif cycle.more_body and not cycle.response_started and not self.pipeline:  # it is in the body of this one
            self._refuse(NOT_HTTP)
            cycle.disconnected = True
            cycle.message_event.set()
        else:
            cycle.keep_alive = False
            self._refused = True

    def _refuse(self, refused: Refused = TOO_LARGE) -> None:
        """Answer, and read on for a moment: closed at once, the connection would be reset and the answer lost."""
        if not self._refused:
            self._refused = True
            self._received = 0
            self.transport.write(_answer(refused))
            self._linger()

    def _close(self, cycle: RequestResponseCycle) -> None:
        """Close the connection behind an answer."""
        if cycle.more_body and not self._refused and not self.transport.is_closing():
            self._refused = True
            self._received = 0
            self._linger()
        else:
            self.transport.close()

    def _linger(self) -> None:
        self.flow.resume_reading()
        self.transport.write_eof()
        self._head_came()
        self._waits = self.loop.call_later(LINGER_S, self.transport.abort)
