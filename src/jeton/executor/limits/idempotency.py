"""Idempotency keys: an action with a key runs once, across all runs and crashes.

A call that was started and has no result, because of a crash or a cancellation, may have had its effect. So the store
keeps the idempotency key of that call, and the next one repeats it under the same key.
"""

import time
from collections.abc import Callable
from typing import Protocol

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


class StoredCall(msgspec.Struct, frozen=True):
    """What a store has under a key: the call, its result as JSON once it has finished, and when that expires."""

    call: str
    result: bytes | None = None
    expires: int | None = None


def begin_call(stored: StoredCall | None, call: str, now: int) -> Claimed | Completed:
    """The rule of every store: an unfinished call is repeated under its own key, an expired one is forgotten."""
    if stored is None or (stored.expires is not None and stored.expires <= now):
        return Claimed(call)
    if stored.result is None:
        return Claimed(stored.call)
    return Completed(msgspec.json.decode(stored.result))


def expiry(now: int, ttl_ms: int | None) -> int | None:
    """When a result expires; None if it does not."""
    return None if ttl_ms is None else now + ttl_ms


class MemoryIdempotencyStore:
    """Idempotency keys in memory."""

    def __init__(self, clock: Callable[[], int] = lambda: time.time_ns() // 1_000_000) -> None:
        self._clock = clock
        self._calls: dict[str, StoredCall] = {}

    async def begin(self, key: str, call: str) -> Claimed | Completed:
        found = begin_call(self._calls.get(key), call, self._clock())
        if isinstance(found, Claimed):
            self._calls[key] = StoredCall(found.idempotency_key)
        return found

    async def finish(self, key: str, result: Json, ttl_ms: int | None) -> None:
        body = msgspec.json.encode(result)
        self._calls[key] = StoredCall(self._calls[key].call, body, expiry(self._clock(), ttl_ms))

    async def forget(self, key: str) -> None:
        self._calls.pop(key, None)
