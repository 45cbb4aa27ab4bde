"""An MCP server elsewhere, by streamable HTTP. Imports the SDK.

The address comes from the project's settings alone. Redirects to another origin are not followed, tokens are fetched
from an address that the settings fix, and an answer has a largest size.
"""

import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import httpx2
import msgspec
from mcp.client.streamable_http import streamable_http_client

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

MAX_ANSWER_BYTES = 16 * 1024 * 1024
CONNECT_S = 15.0
IDLE_READ_S = 300.0  # between two events of a stream; a call has a timeout of its own
TOKEN_MARGIN_S = 30


class AnswerTooLarge(httpx2.TransportError):
    """The body of an answer is larger than its limit."""


class Token(msgspec.Struct, frozen=True):
    """A token as an OAuth server gives it."""

    access_token: str
    expires_in: float = 300


_token = msgspec.json.Decoder(Token).decode


class Credentials(httpx2.Auth):
    """OAuth client credentials: a token is fetched when there is none, and once more if it is refused."""

    requires_response_body = False

    def __init__(self, token_url: str, client_id: str, client_secret: str, scope: str | None) -> None:
        self._token_url = token_url
        self._client = (client_id, client_secret)
        self._scope = scope
        self._known: tuple[str, float] | None = None

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        if self._known is None or self._known[1] < time.monotonic():
            self._take(await self._read((yield self._asks())))
        response = yield self._signed(request)
        if response.status_code == 401:
            self._take(await self._read((yield self._asks())))
            yield self._signed(request)

    def _signed(self, request: httpx2.Request) -> httpx2.Request:
        if self._known is not None:
            request.headers["Authorization"] = f"Bearer {self._known[0]}"
        return request

    def _asks(self) -> httpx2.Request:
        form = {"grant_type": "client_credentials", **({} if self._scope is None else {"scope": self._scope})}
        asked = httpx2.Request("POST", self._token_url, data=form, headers={"Accept": "application/json"})
        return next(httpx2.BasicAuth(*self._client).auth_flow(asked))

    async def _read(self, response: httpx2.Response) -> bytes:
        body = await response.aread()
        if response.status_code != 200:
            raise httpx2.ConnectError(f"no token: {self._token_url} answered with status {response.status_code}")
        return body

    def _take(self, body: bytes) -> None:
        try:
            token = _token(body)
        except msgspec.MsgspecError:
            raise httpx2.ConnectError(f"no token: what {self._token_url} answered is none") from None
        self._known = token.access_token, time.monotonic() + token.expires_in - TOKEN_MARGIN_S


class _Bounded(httpx2.AsyncByteStream):
    """A body that ends with an exception if it is too large."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > MAX_ANSWER_BYTES:
                raise AnswerTooLarge(f"the answer has more than {MAX_ANSWER_BYTES} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


class BoundedTransport(httpx2.AsyncBaseTransport):
    """The client's own transport, with bodies of bounded size."""

    def __init__(self) -> None:
        self._inner = httpx2.AsyncHTTPTransport(trust_env=False)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        stream = response.stream
        assert isinstance(stream, httpx2.AsyncByteStream)
        response.stream = _Bounded(stream)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


@asynccontextmanager
async def connect(url: str, headers: Mapping[str, str], auth: Credentials | None) -> "AsyncGenerator[TransportStreams]":
    """Streams of the messages from and to a server. Fulfils the SDK's `Transport`."""
    timeout = httpx2.Timeout(IDLE_READ_S, connect=CONNECT_S)
    async with (
        httpx2.AsyncClient(
            headers=headers, auth=auth, timeout=timeout, transport=BoundedTransport(), trust_env=False
        ) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=MAX_ANSWER_BYTES) as streams,
    ):
        yield streams
