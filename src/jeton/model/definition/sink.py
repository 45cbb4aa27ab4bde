"""Sinks: addresses that a project's settings name, and that are told of events."""

import hashlib
from collections.abc import Mapping
from typing import Final, get_args

import msgspec

from jeton.model.event import Fact
from jeton.model.json import Json

DEFAULT_EVENTS: Final = ("run.*", "gate.*")
ALL_EVENTS: Final = "*"
EVENT_TYPES: Final = tuple(sorted(str(fact.__struct_config__.tag) for fact in get_args(Fact)))


class Sink(msgspec.Struct, frozen=True):
    """An address, the name of the secret that signs what is sent there, and the events that it wants."""

    name: str
    url: str
    secret: str
    events: tuple[str, ...] = DEFAULT_EVENTS

    @property
    def reader(self) -> str:
        """The name under which its place in the line is remembered. Two projects may use one name for two addresses."""
        return f"sink:{self.name}:{hashlib.sha256(self.url.encode()).hexdigest()[:16]}"

    def wants(self, event_type: str) -> bool:
        """Whether events of a type are sent."""
        return any(fits(pattern, event_type) for pattern in self.events)


def fits(pattern: str, event_type: str) -> bool:
    """Whether a type of event is meant: `*` is all, `run.*` all that begin so, anything else itself."""
    return pattern in (ALL_EVENTS, event_type) or (pattern.endswith(".*") and event_type.startswith(pattern[:-1]))


def sinks_in(settings: Mapping[str, Json]) -> tuple[Sink, ...]:
    """The sinks of a project's settings. What is none is left out: it was reported when it was loaded."""
    declared = settings.get("sinks")
    found: list[Sink] = []
    for name, fields in declared.items() if isinstance(declared, dict) else ():
        try:
            found.append(msgspec.convert({**(fields if isinstance(fields, dict) else {}), "name": name}, Sink))
        except msgspec.ValidationError:
            continue
    return tuple(found)
