"""The application: one ASGI function for HTTP and sockets. Everything passes the door first."""

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import msgspec

from jeton.actor.access.keys import ApiKey
from jeton.api.asgi import Receive, Scope, Send
from jeton.api.door.addresses import check_host, check_origin
from jeton.api.door.bodies import Share
from jeton.api.door.callers import check_scope, cookie_in
from jeton.api.problems import problem_of, refusal_of, status_of
from jeton.api.reading import header_values, read_body, read_query
from jeton.api.route import NOTHING, Answer, Call, Nothing, Route
from jeton.api.router import Found, Router
from jeton.api.state import ServerState
from jeton.engine.engine import Engine
from jeton.model.failure import Refused

log = logging.getLogger("jeton.server")


MAX_URL = 8 * 1024
BODY_S = 30  # the longest pause within a body
SLOWEST = 16 * 1024  # bytes a second, after the first seconds: a byte now and then holds no connection for ever
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data:; connect-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
JSON_TYPE = "application/json"
PROBLEM_TYPE = "application/problem+json"

_encode = msgspec.json.Encoder(enc_hook=str).encode


class Gone(Exception):
    """The client has gone before it had sent all of its request: nobody is there to be answered."""


class NotAllowed(Refused):
    """A path has no such method. The answer says which it has."""

    def __init__(self, method: str, allowed: list[str]) -> None:
        self.allowed = ", ".join(allowed)
        super().__init__("method_not_allowed", f"{method} is not possible here", f"use {self.allowed}")


class Request(msgspec.Struct, frozen=True):
    """A request as it came: nothing of it was trusted yet."""

    id: str
    kind: str  # http | websocket
    method: str
    path: bytes
    query: bytes
    headers: Mapping[str, str]
    scheme: str
    address: str


class Public(msgspec.Struct, frozen=True):
    """What is served without a key: by exact path, or by the beginning of one."""

    method: str
    path: str
    handler: Callable[[Request, bytes], Awaitable[Answer]]
    rated: bool = True
    max_body: int = 1 << 20

    def serves(self, method: str, path: bytes) -> bool:
        """Whether a request is for it. A path that ends in a slash stands for all that is below it."""
        if method != self.method:
            return False
        given = path.decode("latin-1")
        if self.path.endswith("/") and self.path != "/":
            return given.startswith(self.path) and given != self.path
        return given == self.path


class App:
    """The server's ASGI application."""

    def __init__(
        self,
        engine: Engine,
        state: ServerState,
        routes: tuple[Route, ...],
        public: tuple[Public, ...],
        sockets: "Callable[[Request, ApiKey, Receive, Send], Awaitable[None]] | None" = None,
        counted: Callable[[str, str, int, float], None] | None = None,
        refused: Callable[[str], None] | None = None,
    ) -> None:
        self._engine = engine
        self._state = state
        self._router = Router(routes)
        self._public = public
        self._sockets = sockets
        self._counted = counted or _not_counted
        self._refused = refused or _not_told

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
            return
        request = _request(scope)
        began, name, status = time.perf_counter(), "none", 500
        try:
            name, answer = await self._answer(request, receive, send)
        except Gone:
            return
        except Exception as error:
            refused = refusal_of(error)
            if status_of(refused.code) >= 500:
                log.error("request %s failed", request.id, exc_info=error, extra={"request": request.id})
            self._refused(refused.code)
            answer = problem_answer(refused, request.id)
        if answer is not None:
            status = answer.status
            await respond(request, answer, send)
        self._counted(name, request.method, status, time.perf_counter() - began)

    async def _answer(self, request: Request, receive: Receive, send: Send) -> tuple[str, Answer | None]:
        """The route's name, and the answer; None if it was streamed."""
        if len(request.path) + len(request.query) > MAX_URL:
            raise Refused("url_too_long", "the URL is longer than 8 KiB", "send long values in the body")
        self._check_addresses(request)
        now = self._state.wall()
        for public in self._public:
            if request.kind == "http" and public.serves(request.method, request.path):
                if public.rated:
                    self._state.address_rates.take(request.address, time.monotonic())
                with self._state.bodies.of(request.address) as share:
                    body = await _read(request, receive, public.max_body, share)
                    return public.path, await public.handler(request, body)
        cookie = cookie_in(request.headers.get("cookie"))
        caller = self._identify(request, cookie, now)
        by_cookie = cookie is not None and "authorization" not in request.headers
        if by_cookie and request.method != "GET" and "origin" not in request.headers:
            problem = "a request with a session's cookie must say from which page it comes"
            raise Refused("origin_refused", problem, "send the Origin header, or a key")
        found, route = self._route(request)
        check_scope(caller, route.scopes)
        self._take_rate(route, caller)
        if self._state.draining.is_set() and route.method != "GET":
            raise Refused("draining", "the server is shutting down", "try again in a moment")
        if request.kind == "websocket" or route.name == "stream":
            return route.name, await self._stream(route, request, caller, receive, send)
        with self._state.bodies.of(caller.id) as share:
            call = await self._call(route, found, request, caller, receive, share)
            answer = await route.handler(call)
        if route.method != "GET":
            self._log(request, route, caller, answer, found)
        return route.name, answer

    def _identify(self, request: Request, cookie: str | None, now: int) -> ApiKey:
        """Who asks. A key that is refused counts among what its address may ask for without one."""
        try:
            return self._state.callers.identify(request.headers.get("authorization"), cookie, now)
        except Refused as refused:
            if refused.code == "key_refused":
                self._state.address_rates.count(request.address, time.monotonic())
            raise

    def _log(self, request: Request, route: Route, caller: ApiKey, answer: Answer, found: Found) -> None:
        """Who changed what: the log has a line for each request that may have changed something."""
        known = {"request": request.id, "route": route.name, "status": answer.status, "key": caller.id}
        log.info("%s by %s", route.name, caller.name, extra=known | {"run": found.parts.get("run")})

    def _check_addresses(self, request: Request) -> None:
        settings = self._state.settings
        host = request.headers.get("host")
        check_host(host, settings.host, settings.allowed_hosts)
        origin = request.headers.get("origin")
        check_origin(origin, request.scheme, host or "", settings.allowed_origins)

    def _route(self, request: Request) -> tuple[Found, Route]:
        found = self._router.find(request.path)
        if found is None:
            raise Refused("unknown_path", "nothing is served at this path", "see /v1/openapi.json")
        route = found.routes.get(request.method)
        if route is None or (request.kind == "websocket" and route.name != "stream"):
            raise NotAllowed(request.method, sorted(found.routes))
        return found, route

    def _take_rate(self, route: Route, caller: ApiKey) -> None:
        rates = self._state.kept_rates if route.share == "kept" else self._state.key_rates
        rates.take(caller.id, time.monotonic())

    async def _stream(
        self, route: Route, request: Request, caller: ApiKey, receive: Receive, send: Send
    ) -> Answer | None:
        if self._sockets is None:
            raise Refused("unknown_path", "nothing is served at this path", "see /v1/openapi.json")
        await self._sockets(request, caller, receive, send)
        return None

    async def _call(
        self, route: Route, found: Found, request: Request, caller: ApiKey, receive: Receive, share: Share
    ) -> Call[Any, Any]:
        query = read_query(request.query, route.query)
        if route.binary:
            chunks = _chunks(request, receive, route.max_body)
            return Call(self._engine, self._state, caller, found.parts, query, NOTHING, request.headers, chunks=chunks)
        raw = await _read(request, receive, route.max_body, share) if request.method != "GET" else b""
        body: msgspec.Struct = NOTHING
        if route.body is not None:
            if raw and _media_type(request) != JSON_TYPE:
                raise Refused("not_json", "the body is not application/json", f"send Content-Type: {JSON_TYPE}")
            body = read_body(raw, route.body)
        elif raw:
            if _media_type(request) != JSON_TYPE:
                raise Refused("not_json", "the body is not application/json", "send no body, or {}")
            read_body(raw, Nothing)
        return Call(self._engine, self._state, caller, found.parts, query, body, request.headers, raw)


def _not_counted(route: str, method: str, status: int, seconds: float) -> None:
    pass


def _not_told(code: str) -> None:
    pass


def _media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _brings_a_body(request: Request) -> bool:
    return request.headers.get("content-length", "0") != "0" or "transfer-encoding" in request.headers


def _request(scope: Scope) -> Request:
    client = scope.get("client")
    scheme = "https" if scope["scheme"] in ("https", "wss") else "http"
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    return Request(
        id=secrets.token_hex(8),
        kind=scope["type"],
        method=scope.get("method", "GET"),
        path=raw.partition(b"?")[0],
        query=scope.get("query_string", b""),
        headers=header_values(scope["headers"]),
        scheme=scheme,
        address=client[0] if client else "",
    )


async def _read(request: Request, receive: Receive, most: int, share: Share) -> bytes:
    """The whole body."""
    parts: list[bytes] = []
    async for part in _chunks(request, receive, most):
        share.add(len(part))
        parts.append(part)
    return b"".join(parts)


async def _chunks(request: Request, receive: Receive, most: int) -> AsyncIterator[bytes]:
    """The body in parts. It is refused before it is read if it says that it is too long."""
    announced = request.headers.get("content-length", "0")
    if not announced.isdigit() or int(announced) > most:
        raise _too_large(most)
    size, more = 0, True
    began = asyncio.get_running_loop().time()
    while more:
        late = began + BODY_S + size / SLOWEST
        try:
            async with asyncio.timeout_at(min(late, asyncio.get_running_loop().time() + BODY_S)):
                message = await receive()
        except TimeoutError:
            raise Refused("bad_argument", "the body did not come in time", "send it faster") from None
        if message["type"] == "http.disconnect":
            raise Gone
        part: bytes = message.get("body", b"")
        size += len(part)
        if size > most:
            raise _too_large(most)
        if part:
            yield part
        more = message.get("more_body", False)


def _too_large(most: int) -> Refused:
    return Refused("body_too_large", f"the body is larger than {most} bytes", "send less, or an artifact")


def problem_answer(refused: Refused, request_id: str) -> Answer:
    """The answer for a refusal."""
    problem = problem_of(refused, request_id)
    headers = {"content-type": PROBLEM_TYPE, **page_headers()}
    if problem.status == 429:
        headers["retry-after"] = "1"
    if isinstance(refused, NotAllowed):
        headers["allow"] = refused.allowed
    if problem.status == 401:
        headers["www-authenticate"] = "Bearer"
    return Answer(problem, problem.status, headers)


def page_headers(nonce: str | None = None) -> dict[str, str]:
    """Headers of the page and of problems: what a browser may load and do with them."""
    return {
        "content-security-policy": POLICY.format(nonce=nonce or secrets.token_urlsafe(12)),
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
    }


async def respond(request: Request, answer: Answer, send: Send) -> None:
    """Send an answer: of a socket that was not accepted, too."""
    bodiless = answer.status in (204, 304)
    content = b"" if bodiless or answer.chunks is not None else answer.content
    content = _encode(answer.value) if content is None else content
    headers = {"content-type": JSON_TYPE, "x-request-id": request.id, "cache-control": "no-store", **answer.headers}
    if bodiless:
        headers.pop("content-type")
    elif answer.chunks is None:
        headers["content-length"] = str(len(content))
    if (answer.status >= 400 or request.method == "GET") and _brings_a_body(request):
        headers["connection"] = "close"  # what is left of its body is not read
    kind = "websocket.http.response" if request.kind == "websocket" else "http.response"
    pairs = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": f"{kind}.start", "status": answer.status, "headers": pairs})
    if answer.chunks is not None:
        async for part in answer.chunks:
            await send({"type": f"{kind}.body", "body": part, "more_body": True})
    await send({"type": f"{kind}.body", "body": content})


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
