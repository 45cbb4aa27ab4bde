"""All routes."""

from jeton.api.openapi import with_document
from jeton.api.route import Answer, Call, Nothing, Route, route
from jeton.api.routes import (
    access,
    causes,
    control,
    definitions,
    looking,
    memories,
    past,
    people,
    runs,
    store,
    talking,
)
from jeton.api.streams.source import StreamQuery
from jeton.model.failure import Refused


async def stream(call: Call[StreamQuery, Nothing]) -> Answer:
    """Events as they are committed: a WebSocket, or server-sent events."""
    raise Refused("bad_argument", "a stream is a WebSocket, or server-sent events", "send Accept: text/event-stream")


async def metrics(call: Call[Nothing, Nothing]) -> Answer:
    """Numbers for Prometheus."""
    content = b"" if call.server.metrics is None else await call.server.metrics()
    return Answer(content=content, headers={"content-type": "text/plain; version=0.0.4; charset=utf-8"})


_ROUTES: tuple[Route, ...] = (
    *access.ROUTES,
    *control.ROUTES,
    *looking.ROUTES,
    *past.ROUTES,
    *people.ROUTES,
    *talking.ROUTES,
    *memories.ROUTES,
    *causes.ROUTES,
    *definitions.ROUTES,
    *runs.ROUTES,
    *store.ROUTES,
    route(
        "GET", "/stream", "read answer", stream, {200: None, 204: None}, query=StreamQuery, body=Nothing,
        codes="bad_cursor unknown_run history_pruned too_many_streams ambiguous",
    ),
    Route("GET", "/metrics", "metrics", metrics.__doc__ or "", ("read",), metrics, Nothing, None, {200: bytes}, ()),
)  # fmt: skip
ROUTES = with_document(_ROUTES)
