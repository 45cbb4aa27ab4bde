"""Build the request of a call from the implementation, the input and secrets."""

from base64 import b64encode
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

import msgspec
from httpx2 import URL, InvalidURL
from msgspec import UnsetType

from jeton.executor.action import ActionCall
from jeton.executor.http.implementation import Auth
from jeton.executor.secrets import SecretRef
from jeton.executor.task.placeholders import PlaceholderError, fill, fill_text, scalar_text
from jeton.model.json import Json

if TYPE_CHECKING:
    from jeton.executor.actions.http import Http

USER_AGENT = "jeton"

_encode_json = msgspec.json.Encoder().encode


class HttpRequest(msgspec.Struct, frozen=True):
    """A request. `own_headers` are those of the definition, which go to its own host only."""

    method: str
    url: URL
    headers: tuple[tuple[str, str], ...]
    own_headers: tuple[tuple[str, str], ...]
    body: bytes | None
    media_type: str | None


async def build_request(http: "Http", call: ActionCall) -> HttpRequest:
    """Build the request. Raises PlaceholderError or SecretUnavailable."""
    own = [(name, await _header(name, value, call)) for name, value in http.headers.items()]
    if http.auth is not None:
        own.append(("Authorization", await _authorization(http.auth, call)))
    body, media_type = _body(http, call.values())
    named = {name.lower() for name in http.headers}
    ours = [
        ("Accept", "*/*"),
        ("Accept-Encoding", "gzip, deflate"),
        ("Idempotency-Key", quote(call.call.idempotency_key, safe=":-_.~!*'()/@+,")),
        ("User-Agent", USER_AGENT),
    ]
    return HttpRequest(
        method=http.method,
        url=_url(http.url, http.query, call.values()),
        headers=tuple((name, value) for name, value in ours if name.lower() not in named),
        own_headers=tuple(own),
        body=body,
        media_type=None if "content-type" in named else media_type,
    )


def _url(template: str, query: dict[str, Json], given: Json) -> URL:
    """The url. Values are percent-encoded, so that none can start another segment, parameter or host."""
    text = fill_text(template, given, lambda value: quote(value, safe=""))
    path = text.partition("://")[2].partition("?")[0].partition("/")[2]
    fixed = template.partition("://")[2].partition("?")[0].partition("/")[2]
    # an inserted "" or ".." would change the structure of the path
    for now, before in zip(path.split("/"), fixed.split("/"), strict=True):
        if now != before and now in ("", ".", ".."):
            raise PlaceholderError(f"url: '{before}' becomes '{now}', which is not a path segment")
    parameters = [pair for name, value in query.items() for pair in _parameters(name, fill(value, given))]
    if parameters:
        text += ("&" if "?" in text else "?") + urlencode(parameters)
    try:
        return URL(text)
    except InvalidURL as error:
        raise PlaceholderError(f"url: {error}") from None


def _parameters(name: str, value: Json) -> list[tuple[str, str]]:
    """The pairs of a query parameter: one for each item of a list, none for null."""
    if value is None:
        return []
    texts = [scalar_text(each) for each in (value if isinstance(value, list) else [value])]
    if None in texts:
        raise PlaceholderError(f"query.{name} must be a string, a number, a boolean, or a list of them")
    return [(name, text) for text in texts if text is not None]


def _body(http: "Http", given: Json) -> tuple[bytes | None, str | None]:
    if not isinstance(http.json, UnsetType):
        return _encode_json(fill(http.json, given)), "application/json"
    if not isinstance(http.text, UnsetType):
        return fill_text(http.text, given).encode(), "text/plain; charset=utf-8"
    return None, None


async def _header(name: str, value: str | SecretRef, call: ActionCall) -> str:
    """The value of a header. An error does not quote it, because it may be a secret."""
    text = await call.secret(value.secret) if isinstance(value, SecretRef) else fill_text(value, call.values())
    return _sendable(f"headers.{name}", text)


async def _authorization(auth: Auth, call: ActionCall) -> str:
    if auth.basic is not None:
        user = auth.basic.username
        username = await call.secret(user.secret) if isinstance(user, SecretRef) else fill_text(user, call.values())
        password = await call.secret(auth.basic.password.secret)
        return "Basic " + b64encode(f"{username}:{password}".encode()).decode()
    assert auth.bearer is not None
    return _sendable("auth.bearer", "Bearer " + await call.secret(auth.bearer.secret))


def _sendable(where: str, text: str) -> str:
    if not text.isascii() or not text.isprintable() or text != text.strip():
        raise PlaceholderError(f"{where} contains characters that a header cannot")
    return text
