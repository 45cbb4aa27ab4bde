"""Build the request of a call from the implementation, the input and secrets."""

from base64 import b64encode
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

import msgspec
from httpx2 import URL, InvalidURL
from msgspec import UnsetType

from jeton.executor.action import ActionCall
from jeton.executor.http.egress import AddressRefused
from jeton.executor.http.implementation import Auth
from jeton.executor.http.redirect import is_named
from jeton.executor.secrets import SecretRef
from jeton.executor.task.placeholders import PlaceholderError, fill, fill_text, given_url, scalar_text, whole_name
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
    """Build the request. Raises PlaceholderError, AddressRefused or SecretUnavailable."""
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
        url=_url(http, call.values()),
        headers=tuple((name, value) for name, value in ours if name.lower() not in named),
        own_headers=tuple(own),
        body=body,
        media_type=None if "content-type" in named else media_type,
    )


def _url(http: "Http", given: Json) -> URL:
    """The url, with the query. A whole url from input must have one of the allowed hosts."""
    name = whole_name(http.url)
    text = _filled_url(http.url, given) if name is None else given_url(name, given)
    parameters = [pair for key, value in http.query.items() for pair in _parameters(key, fill(value, given))]
    if parameters:
        text += ("&" if "?" in text else "?") + urlencode(parameters)
    try:
        url = URL(text)
    except InvalidURL as error:
        raise PlaceholderError(f"url: {error}") from None
    if name is not None and not is_named(url, http.hosts):
        raise AddressRefused(f"the url of the input leads to '{url.netloc.decode()}', which 'hosts' does not allow")
    return url


def _filled_url(template: str, given: Json) -> str:
    """A fixed url. Values are percent-encoded, so that none can start another segment, parameter or host."""
    text = fill_text(template, given, lambda value: quote(value, safe=""))
    path = text.partition("://")[2].partition("?")[0].partition("/")[2]
    fixed = template.partition("://")[2].partition("?")[0].partition("/")[2]
    # an inserted "" or ".." would change the structure of the path
    for now, before in zip(path.split("/"), fixed.split("/"), strict=True):
        if now != before and now in ("", ".", ".."):
            raise PlaceholderError(f"url: '{before}' becomes '{now}', which is not a path segment")
    return text


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
