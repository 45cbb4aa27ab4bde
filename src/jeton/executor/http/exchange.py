"""One HTTP exchange: send a request, follow permitted redirects, and turn errors into failures."""

import ssl
from typing import TYPE_CHECKING

from httpcore2 import URL, AsyncConnectionPool, ConnectTimeout, NetworkError, ProtocolError, TimeoutException

from jeton.executor.action import ActionCall, ActionFailed
from jeton.executor.clock import TimedOut
from jeton.executor.http.body import BodyRefused
from jeton.executor.http.egress import AddressRefused, SettingsInvalid, egress_of
from jeton.executor.http.implementation import HttpLimits
from jeton.executor.http.redirect import CODES, MAX_REDIRECTS, Hop, RedirectRefused, next_hop
from jeton.executor.http.request import HttpRequest, build_request
from jeton.executor.http.response import headers_of, read_response, shortened
from jeton.executor.task.placeholders import PlaceholderError
from jeton.model.json import Json

if TYPE_CHECKING:
    from jeton.executor.actions.http import Http


async def exchange(http: "Http", call: ActionCall) -> Json | ActionFailed:
    """The result of a request, or its failure: transient for network errors and timeouts."""
    try:
        egress = egress_of(call.settings)
        request = await build_request(http, call)
    except SettingsInvalid as invalid:
        return ActionFailed("settings_invalid", str(invalid), fatal=True)
    except PlaceholderError as unfit:
        return ActionFailed("input_invalid", str(unfit))
    except AddressRefused as refused:
        return ActionFailed("address_refused", str(refused))
    pool = await call.resources.connections.pool(egress)
    # without the query, which may contain sensitive values
    label = f"{request.method} {request.url.copy_with(query=None)}"
    try:
        return await call.resources.clock.within(http.limits.total_ms, _follow(http, request, pool, call, label))
    except TimedOut:
        problem = f"took longer than {http.limits.total_ms} ms (limits.total_ms)"
        return ActionFailed("http_timeout", f"{label} {problem}", transient=True)
    except TimeoutException as error:
        return ActionFailed("http_timeout", f"{label} {_timeout_text(error, http.limits)}", transient=True)
    except AddressRefused as refused:
        return ActionFailed("address_refused", f"{label}: {refused}")
    except RedirectRefused as refused:
        return ActionFailed("redirect_refused", f"{label} {refused}")
    except BodyRefused as refused:
        return ActionFailed(refused.type, f"{label}: {refused}")
    except (NetworkError, ProtocolError) as error:
        return _network_failure(error, label, call, http.limits)


async def _follow(
    http: "Http", request: HttpRequest, pool: AsyncConnectionPool, call: ActionCall, label: str
) -> Json | ActionFailed:
    limits = http.limits
    timeouts = {
        "connect": limits.connect_ms / 1000,
        "read": limits.idle_ms / 1000,
        "write": limits.idle_ms / 1000,
        "pool": limits.total_ms / 1000,
    }
    hop = Hop(request.method, request.url, request.body is not None)
    redirects = http.hosts if http.hosts and http.redirects == "same_host" else http.redirects
    for _ in range(MAX_REDIRECTS + 1):
        async with pool.stream(
            hop.method,
            _core_url(hop),
            headers=_headers(request, hop),
            content=request.body if hop.has_body else None,
            extensions={"timeout": timeouts},
        ) as response:
            headers = headers_of(response, limits)
            location = headers.get("location")
            if response.status not in CODES or location is None or http.redirects is False:
                return await read_response(http, response, headers, call, label)
            hop = next_hop(hop, request.url, response.status, location, redirects)
    raise RedirectRefused(f"was redirected more than {MAX_REDIRECTS} times")


def _core_url(hop: Hop) -> URL:
    url = hop.url
    return URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)


def _headers(request: HttpRequest, hop: Hop) -> list[tuple[str, str]]:
    """The headers of a hop. Those of the definition, including credentials, go to its own host only."""
    headers = [*request.headers, *(request.own_headers if hop.trusted else ())]
    if hop.has_body:
        return headers if request.media_type is None else [*headers, ("Content-Type", request.media_type)]
    return [(name, value) for name, value in headers if name.lower() != "content-type"]


def _timeout_text(error: TimeoutException, limits: HttpLimits) -> str:
    if isinstance(error, ConnectTimeout):
        return f"could not connect within {limits.connect_ms} ms (limits.connect_ms)"
    return f"received nothing for {limits.idle_ms} ms (limits.idle_ms)"


def _network_failure(error: Exception, label: str, call: ActionCall, limits: HttpLimits) -> ActionFailed:
    """The failure of a network error. Certificates and oversized headers are permanent, others transient."""
    message = shortened(call.secrets.text(str(error))) or type(error).__name__
    if error.args and isinstance(error.args[0], ssl.SSLCertVerificationError):
        return ActionFailed("http_certificate", f"{label}: {error.args[0].verify_message}")
    if "Receive buffer too long" in message:
        problem = f"the headers are larger than {limits.header_bytes} bytes (limits.header_bytes)"
        return ActionFailed("http_headers_too_large", f"{label}: {problem}")
    return ActionFailed("http_network", f"{label}: {message}", transient=True)
