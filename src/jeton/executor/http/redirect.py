"""Redirects: not followed, or to the same host, or to named hosts. Never to another scheme."""

import msgspec
from httpx2 import URL, InvalidURL

from jeton.executor.http.egress import normalized_host
from jeton.executor.http.implementation import Redirects

MAX_REDIRECTS = 10
CODES = frozenset((301, 302, 303, 307, 308))

_PORTS = {"http": 80, "https": 443}


class RedirectRefused(Exception):
    """A redirect that is not permitted."""


class Hop(msgspec.Struct, frozen=True):
    """One request of a chain of redirects. `trusted`: it goes to the host of the definition, with its credentials."""

    method: str
    url: URL
    has_body: bool
    trusted: bool = True


def next_hop(hop: Hop, first: URL, status: int, location: str, redirects: Redirects) -> Hop:
    """The request that follows a redirect. Raises RedirectRefused."""
    try:
        url = hop.url.join(location)
    except InvalidURL:
        raise RedirectRefused("was redirected to an invalid url") from None
    if url.scheme != first.scheme:
        raise RedirectRefused(
            f"was redirected from {first.scheme} to {url.scheme or 'nowhere'}, and the scheme must stay"
        )
    if not url.host or url.userinfo:
        raise RedirectRefused("was redirected to a url without a host, or with a user name")
    same = origin(url) == origin(first)
    if not same and not (isinstance(redirects, tuple) and is_named(url, redirects)):
        raise RedirectRefused(f"was redirected to '{_shown(url)}', which 'redirects' does not allow")
    method, has_body = hop.method, hop.has_body
    if (status == 303 and method != "HEAD") or (status in (301, 302) and method == "POST"):
        method, has_body = "GET", False
    # trust is not regained: another server could choose what is sent to the first with its credentials
    return Hop(method, url, has_body, trusted=hop.trusted and same)


def origin(url: URL) -> tuple[str, str, int]:
    """Scheme, host and port, which together identify a server."""
    return url.scheme, normalized_host(url.raw_host.decode()), url.port or _PORTS.get(url.scheme, 0)


def is_named(url: URL, hosts: tuple[str, ...]) -> bool:
    """Whether a url has one of these hosts, with the port that is named or the default one."""
    return any(origin(url) == origin(URL(f"{url.scheme}://{named}")) for named in hosts)


def _shown(url: URL) -> str:
    return url.netloc.decode()
