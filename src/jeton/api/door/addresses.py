"""Whose names a server answers to, and from which pages requests may come.

A page on another site can make a browser send requests to this machine, also under a name that it lets point here (DNS
rebinding). So the Host must be a name of ours, and an Origin, if there is one, a page of ours.
"""

import ipaddress
from collections.abc import Collection

from jeton.model.failure import Refused

LOOPBACK_NAMES = frozenset({"localhost"})


def is_loopback(name: str) -> bool:
    """Whether a host name or address is this machine's own."""
    if name in LOOPBACK_NAMES:
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def host_name(host: str) -> str | None:
    """The name in a Host header, without its port; None if it is none."""
    text = host.strip().lower()
    if text.startswith("["):
        name, bracket, rest = text[1:].partition("]")
        return name if bracket and (not rest or _is_port(rest)) else None
    name, colon, port = text.partition(":")
    if not name or (colon and not port.isdigit()) or any(mark in name for mark in "/@\\ "):
        return None
    return name


def _is_port(rest: str) -> bool:
    return rest.startswith(":") and rest[1:].isdigit()


def check_host(host: str | None, bound: str, allowed: Collection[str]) -> None:
    """Raise Refused unless the host is loopback, the bound address or an allowed name."""
    name = None if host is None else host_name(host)
    if name is None or not (is_loopback(name) or name == bound.lower() or name in allowed):
        problem = "this server does not answer to that host name"
        raise Refused("host_refused", problem, "use its address, or start it with --allowed-host")


def check_origin(origin: str | None, scheme: str, host: str, allowed: Collection[str]) -> None:
    """Raise Refused for a request from a page that is not ours."""
    if origin is None or origin == f"{scheme}://{host}" or origin in allowed:
        return
    problem = "requests from pages of that origin are not taken"
    raise Refused("origin_refused", problem, "start the server with --allowed-origin")
