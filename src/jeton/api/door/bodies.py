"""How much of bodies is in memory: a share for each key, and for each address without one."""

from collections.abc import Generator
from contextlib import contextmanager

from jeton.model.failure import Refused

MOST_OF_ONE = 32 << 20
MOST_OF_ALL = 256 << 20


class Share:
    """The bytes of one request."""

    def __init__(self, bodies: "Bodies", name: str) -> None:
        self._bodies = bodies
        self._name = name
        self.bytes = 0

    def add(self, count: int) -> None:
        """Count bytes before they are kept. Raises Refused if there are too many with those of other requests."""
        held = self._bodies.held
        if held.get(self._name, 0) + count > MOST_OF_ONE or self._bodies.all + count > MOST_OF_ALL:
            raise Refused("rate_limited", "too many bodies are being sent at once", "wait for those to be answered")
        held[self._name] = held.get(self._name, 0) + count
        self._bodies.all += count
        self.bytes += count


class Bodies:
    """The bytes of all requests under way."""

    def __init__(self) -> None:
        self.held: dict[str, int] = {}
        self.all = 0

    @contextmanager
    def of(self, name: str) -> Generator[Share, None, None]:
        """The share of one request by a key or an address, for as long as it is under way."""
        share = Share(self, name)
        try:
            yield share
        finally:
            self.all -= share.bytes
            left = self.held.pop(name, 0) - share.bytes
            if left:
                self.held[name] = left
