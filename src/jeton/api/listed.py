"""Which codes a route may answer with: its own, and those that come from the door, the body and the store."""

from collections.abc import Mapping

from jeton.api.problems import status_of
from jeton.api.route import Route
from jeton.model.codes import RefusalCode

AT_THE_DOOR: tuple[RefusalCode, ...] = (
    "host_refused",
    "origin_refused",
    "key_missing",
    "key_refused",
    "rate_limited",
    "url_too_long",
    "headers_too_large",
    "unknown_path",
    "method_not_allowed",
    "bad_argument",
    "broken_invariant",
    "store_failed",
    "draining",
)
OF_CHANGES: tuple[RefusalCode, ...] = ("body_too_large", "store_full")
OF_JSON: tuple[RefusalCode, ...] = ("bad_json", "not_json")


def codes_of(route: Route) -> Mapping[int, tuple[RefusalCode, ...]]:
    """The codes that a route may answer with, by status."""
    codes: set[RefusalCode] = {*AT_THE_DOOR, *route.codes}
    if route.scopes:
        codes.add("scope_missing")
    if route.method != "GET":
        codes.update(OF_CHANGES)
        codes.update(() if route.binary else OF_JSON)
    found: dict[int, tuple[RefusalCode, ...]] = {}
    ordered: list[RefusalCode] = sorted(codes)
    for code in ordered:
        status = status_of(code)
        found[status] = (*found.get(status, ()), code)
    return dict(sorted(found.items()))
