"""Routes as data: method, path, who may use it, what goes in and what comes out.

The router, the OpenAPI document, the reference page and the tests of the door are all read off the table of routes.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import msgspec

from jeton.actor.access.keys import ApiKey, Scope
from jeton.api.state import ServerState
from jeton.engine.engine import Engine
from jeton.model.codes import RefusalCode

Method: TypeAlias = Literal["GET", "POST", "PUT", "DELETE"]
Share: TypeAlias = Literal["common", "kept"]  # kept: a share of the server that nobody else can use up

MIB = 1 << 20
MAX_BODY = MIB

QueryT = TypeVar("QueryT")
BodyT = TypeVar("BodyT")


class Nothing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """No parameters, or an empty body."""


NOTHING = Nothing()


async def _no_chunks() -> AsyncIterator[bytes]:
    return
    yield b""


class Answer(msgspec.Struct, frozen=True):
    """What a handler answers: a value that becomes JSON, or bytes with their own headers."""

    value: object = None
    status: int = 200
    headers: Mapping[str, str] = {}
    content: bytes | None = None  # instead of the value
    chunks: AsyncIterator[bytes] | None = None  # likewise, in parts; the headers say how long it is


class Call(msgspec.Struct, Generic[QueryT, BodyT], frozen=True):
    """One request, read and checked: its caller, the parts of its path, its parameters and its body."""

    engine: Engine
    server: ServerState
    caller: ApiKey
    path: Mapping[str, str]
    query: QueryT
    body: BodyT
    headers: Mapping[str, str]
    raw: bytes = b""
    chunks: AsyncIterator[bytes] = _no_chunks()  # a body that is bytes, which the handler reads


Handler: TypeAlias = Callable[[Call[Any, Any]], Awaitable[Answer]]


class Route(msgspec.Struct, frozen=True):
    """One route. `scopes`: one of them is enough; none: any key. `answers`: the type of the body by status."""

    method: Method
    path: str
    name: str
    summary: str
    scopes: tuple[Scope, ...]
    handler: Handler
    query: type[msgspec.Struct]
    body: type[msgspec.Struct] | None
    answers: Mapping[int, Any]
    codes: tuple[RefusalCode, ...]
    max_body: int = MAX_BODY
    binary: bool = False  # the body is bytes, and no JSON
    share: Share = "common"


def route(
    method: Method,
    path: str,
    scopes: str,
    handler: Callable[[Call[QueryT, BodyT]], Awaitable[Answer]],
    answers: Mapping[int, Any],
    *,
    query: type[QueryT],
    body: type[BodyT],
    codes: str = "",
    max_body: int = MAX_BODY,
    binary: bool = False,
    share: Share = "common",
) -> Route:
    """A route of the table. Scopes and codes are words in a text; the summary is the handler's docstring."""
    name = getattr(handler, "__name__", "")
    summary = (handler.__doc__ or "").strip().split("\n")[0]
    return Route(
        method,
        f"/v1{path}",
        name,
        summary,
        tuple(scopes.split()),  # type: ignore[arg-type]
        handler,
        query,  # type: ignore[arg-type]
        None if body is Nothing else body,  # type: ignore[arg-type]
        answers,
        tuple(codes.split()),  # type: ignore[arg-type]
        max_body,
        binary,
        share,
    )
