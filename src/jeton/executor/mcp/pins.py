"""What tools of MCP servers were when they were first used. A tool that changed since is not called.

A server can say anything about a tool, at any time, and a model acts on what it says. So the description and the input
schema are pinned, and only a person pins them again.
"""

import hashlib
from typing import Protocol

import msgspec

from jeton.model.json import JsonObject

_canonical = msgspec.json.Encoder(order="deterministic").encode


class Pin(msgspec.Struct, frozen=True):
    """A tool of a server as it was at a time: the hash of its description and input schema, and both as JSON."""

    server: str
    tool: str
    hash: str
    described: bytes
    at: int


def pin_of(server: str, tool: str, description: str | None, input_schema: JsonObject, at: int) -> Pin:
    """The pin of a tool as its server describes it now."""
    described = _canonical({"description": description, "input_schema": input_schema})
    return Pin(server, tool, hashlib.sha256(described).hexdigest(), described, at)


class PinStore(Protocol):
    """Where pins are kept. What was written is durable when the call returns."""

    async def put(self, pin: Pin, *, again: bool = False) -> Pin:
        """Store a pin, and return the one that holds: an earlier one of the tool, unless it is pinned `again`."""
        ...

    async def list(self, server: str | None = None) -> list[Pin]:
        """The pins of a server, or of all, by name."""
        ...


class MemoryPinStore:
    """Pins in memory. Fulfils `PinStore`."""

    def __init__(self) -> None:
        self._pins: dict[tuple[str, str], Pin] = {}

    async def put(self, pin: Pin, *, again: bool = False) -> Pin:
        key = (pin.server, pin.tool)
        if again or key not in self._pins:
            self._pins[key] = pin
        return self._pins[key]

    async def list(self, server: str | None = None) -> list[Pin]:
        return [pin for key, pin in sorted(self._pins.items()) if server in (None, key[0])]
