"""Where a redirect may lead: nowhere, to the same host, or to hosts the author named. Never to another scheme."""

import msgspec
from httpx2 import URL, InvalidURL

from jeton.executor.http.egress import plain_host
from jeton.executor.http.implementation import Redirects

MOST_REDIRECTS = 10
CODES = frozenset((301, 302, 303, 307, 308))

_PORTS = {"http": 80, "https": 443}


class RedirectRefused(Exception):
    """A redirect that is not followed."""


class Hop(msgspec.Struct, frozen=True):
    """One request of a call. `trusted`: at the host the author wrote, where headers and credentials belong."""

    method: str
    url: URL
    has_body: bool
    trusted: bool = True


def next_hop(hop: Hop, first: URL, status: int, location: str, redirects: Redirects) -> Hop:
    """Where the redirect leads; raises RedirectRefused."""
    try:
        url = hop.url.join(location)
    except InvalidURL:
        raise RedirectRefused("is redirected to what is no address") from None
    if url.scheme != first.scheme:
        raise RedirectRefused(f"is redirected from {first.scheme} to {url.scheme or 'nowhere'}, and a scheme is kept")
    if not url.host or url.userinfo:
        raise RedirectRefused("is redirected to an address without a host, or with a user name")
    same = origin(url) == origin(first)
    if not same and not _is_named(url, redirects):
        raise RedirectRefused(f"is redirected to '{_shown(url)}', which 'redirects' does not name")
    method, has_body = hop.method, hop.has_body
    if (status == 303 and method != "HEAD") or (status in (301, 302) and method == "POST"):
        method, has_body = "GET", False
    # once it left, a server that sends it back could use what is sent there; so trust is never regained
    return Hop(method, url, has_body, trusted=hop.trusted and same)


def origin(url: URL) -> tuple[str, str, int]:
    """What counts as the same host: another port is another server."""
    return url.scheme, plain_host(url.raw_host.decode()), url.port or _PORTS.get(url.scheme, 0)


def _is_named(url: URL, redirects: Redirects) -> bool:
    return isinstance(redirects, tuple) and any(
        origin(url) == origin(URL(f"{url.scheme}://{named}")) for named in redirects
    )


def _shown(url: URL) -> str:
    return url.netloc.decode()
