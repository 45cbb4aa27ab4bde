"""`project.settings.sinks`: addresses that are told of events. Nothing is sent to them here."""

from typing import Final
from urllib.parse import urlsplit

from jeton.definitions.read.fields import Fields, check_name, fields_of
from jeton.definitions.read.location import SourceLocation
from jeton.definitions.report import Report, closest, shown
from jeton.model.definition.sink import EVENT_TYPES, fits
from jeton.model.json import Json

KEYS: Final = ("url", "secret", "events")
PATTERNS: Final = ("*", *sorted({f"{kind.partition('.')[0]}.*" for kind in EVENT_TYPES}), *EVENT_TYPES)


def check_sinks(value: Json, location: SourceLocation, report: Report) -> None:
    """Check the sinks. Whether their secrets are there is checked with all definitions."""
    fields_of(value, location, report, value if isinstance(value, dict) else (), "'sinks'")
    for name, declared in value.items() if isinstance(value, dict) else ():
        if not check_name(name, location / name, report):
            continue
        sink = fields_of(declared, location / name, report, KEYS, "a sink")
        if sink is not None and sink.require("url", "secret"):
            _check_url(sink)
            sink.name("secret")
            _check_events(sink)


def _check_url(sink: Fields) -> None:
    url, location = sink.text("url"), sink.location("url")
    if url is None:
        return
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        usable = usable and url.isascii() and url.isprintable() and " " not in url and not parts.fragment
    except ValueError:
        parts, usable = None, False
    if not usable:
        problem = f"{shown(url)} is not a web address"
        sink.report.error(location, "bad_sink", problem, "write 'https://host/path'")
    elif parts is not None and "@" in parts.netloc:
        problem = "has a name or a password in it, and a secret has no place in a definition"
        remedy = "remove it: what is sent is signed with 'secret'"
        sink.report.error(location, "secret_in_definition", problem, remedy)


def _check_events(sink: Fields) -> None:
    for index, pattern in enumerate(sink.texts("events")):
        if not any(fits(pattern, kind) for kind in EVENT_TYPES):
            meant = closest(pattern, PATTERNS)
            remedy = f"write '{meant}'" if meant else "write a type such as 'run.completed', or 'run.*', or '*'"
            problem = f"there are no events {shown(pattern)}"
            sink.report.error(sink.location("events") / index, "unknown_value", problem, remedy)
    if "events" in sink and sink.list("events") == []:
        remedy = "name some, or leave it out for run.* and gate.*"
        sink.report.error(sink.location("events"), "unknown_value", "names no events, so nothing is sent", remedy)
