"""What a running server has besides its engine: its settings, who may call, and whether it still takes requests."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec

from jeton.api.apart.process import CHECK_S, SIMULATE_S, Apart
from jeton.api.door.bodies import Bodies
from jeton.api.door.callers import Callers
from jeton.api.door.rates import ADDRESS_RATE, KEY_RATE, Rates


class Settings(msgspec.Struct, frozen=True):
    """How a server was started."""

    host: str = "127.0.0.1"
    allowed_hosts: frozenset[str] = frozenset()
    allowed_origins: frozenset[str] = frozenset()
    no_auth: bool = False
    heartbeat_ms: int = 15_000
    store: Path | None = None  # the file, for its size
    app: str | None = None  # the Python whose actions definitions may name


class ServerState:
    """Shared by all requests of one server."""

    def __init__(self, settings: Settings, callers: Callers, wall: Callable[[], int]) -> None:
        self.settings = settings
        self.callers = callers
        self.wall = wall
        self.id = secrets.token_hex(8)
        self.draining = asyncio.Event()
        self.key_rates = Rates(KEY_RATE)
        self.kept_rates = Rates(KEY_RATE)  # of cancel and answers: their own share
        self.address_rates = Rates(ADDRESS_RATE)
        self.bodies = Bodies()
        self.checking = Apart(CHECK_S, settings.app)
        self.simulating = Apart(SIMULATE_S, settings.app)
        self.verifying = asyncio.Semaphore(1)
        self.metrics: Callable[[], Awaitable[bytes]] | None = None  # all numbers, as Prometheus reads them

    async def close(self) -> None:
        """End the processes that were started for requests."""
        await asyncio.gather(self.checking.close(), self.simulating.close())
