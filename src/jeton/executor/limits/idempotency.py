"""Idempotency keys: an action with a key runs once, across all runs and crashes.

A call that was started and has no result, because of a crash or a cancellation, may have had its effect. So the store
keeps the idempotency key of that call, and the next one repeats it under the same key.
"""

import time
from collections.abc import Callable
from typing import Protocol, TypeAlias

import msgspec

from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json


class Claimed(msgspec.Struct, frozen=True):
    """The call must be made, with this idempotency key."""

    idempotency_key: str


class Completed(msgspec.Struct, frozen=True):
    """The call was made before, with this result."""

    result: Json


class IdempotencyStore(Protocol):
    """Stores the results of calls by key. The executor never uses one key twice at the same time."""

    async def begin(self, key: str, call: str) -> Claimed | Completed:
        """The result stored under a key, or the claim to make the call. The claim is durable when this returns."""
        ...

    async def finish(self, key: str, result: Json, ttl_ms: int | None) -> None:
        """Store the result of a claimed call, for a time or for ever. Durable when this returns."""
        ...

    async def forget(self, key: str) -> None:
        """Remove a claim, because the call failed; the next call is a new one."""
        ...


def step_key(run: RunId, token: TokenId, step: str) -> str:
    """The key of a durable step of a node. All steps of a node share a prefix, so that they sort together."""
    return f"{steps_prefix(run)}{token}:{step}"


def steps_prefix(run: RunId) -> str:
    """The prefix of the keys of all steps of a run."""
    return f"step:{run}:"


_Kept: TypeAlias = tuple[str, Completed | None, int | None]


class MemoryIdempotencyStore:
    """Idempotency keys in memory."""

    def __init__(self, clock: Callable[[], int] = lambda: time.time_ns() // 1_000_000) -> None:
        self._clock = clock
        self._kept: dict[str, _Kept] = {}

    async def begin(self, key: str, call: str) -> Claimed | Completed:
        first, done, expires = self._kept.get(key, (call, None, None))
        if done is not None and (expires is None or self._clock() < expires):
            return done
        claimed = Claimed(call if done is not None else first)
        self._kept[key] = (claimed.idempotency_key, None, None)
        return claimed

    async def finish(self, key: str, result: Json, ttl_ms: int | None) -> None:
        call = self._kept[key][0]
        self._kept[key] = (call, Completed(result), None if ttl_ms is None else self._clock() + ttl_ms)

    async def forget(self, key: str) -> None:
        self._kept.pop(key, None)
