"""IdempotencyStore by which an action runs once, whichever run asks, and whatever crashes.

A call that was begun and never answered (a crash, a cancellation) may have had its effect. So the key keeps the
idempotency key it was made with, and whoever comes next makes the very same call again.
"""

import time
from collections.abc import Callable
from typing import Protocol, TypeAlias

import msgspec

from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json


class Claimed(msgspec.Struct, frozen=True):
    """The call is to be made, under this idempotency key."""

    call: str


class Completed(msgspec.Struct, frozen=True):
    """The call was made, and gave this."""

    result: Json


class IdempotencyStore(Protocol):
    """Where keys are kept. Of two who ask for one key at the same time, the executor lets the second wait."""

    async def begin(self, key: str, call: str) -> Claimed | Completed:
        """What became of the key. One that is new, or has expired, is taken for the call; durable when this returns."""
        ...

    async def finish(self, key: str, result: Json, ttl_ms: int | None) -> None:
        """Keep what the call gave, for ever or for a time; durable when this returns."""
        ...

    async def forget(self, key: str) -> None:
        """The call failed: the next one is another."""
        ...


def step_key(run: RunId, token: TokenId, step: str) -> str:
    """By what a step that a node takes is kept: all of a node's begin alike, and sort together."""
    return f"{steps_prefix(run)}{token}:{step}"


def steps_prefix(run: RunId) -> str:
    """What the keys of all steps of a run begin with."""
    return f"step:{run}:"


_Kept: TypeAlias = tuple[str, Completed | None, int | None]


class MemoryIdempotencyStore:
    """IdempotencyStore for as long as the process lives."""

    def __init__(self, clock: Callable[[], int] = lambda: time.time_ns() // 1_000_000) -> None:
        self._clock = clock
        self._kept: dict[str, _Kept] = {}

    async def begin(self, key: str, call: str) -> Claimed | Completed:
        first, done, expires = self._kept.get(key, (call, None, None))
        if done is not None and (expires is None or self._clock() < expires):
            return done
        begun = Claimed(call if done is not None else first)
        self._kept[key] = (begun.call, None, None)
        return begun

    async def finish(self, key: str, result: Json, ttl_ms: int | None) -> None:
        call = self._kept[key][0]
        self._kept[key] = (call, Completed(result), None if ttl_ms is None else self._clock() + ttl_ms)

    async def forget(self, key: str) -> None:
        self._kept.pop(key, None)
