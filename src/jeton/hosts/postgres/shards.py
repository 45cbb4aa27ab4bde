"""Shards: which worker advances which runs. A run is in the shard of its root, so that a tree is together."""

import hashlib
from collections.abc import Sequence

import msgspec

from jeton.model.ids import RunId

SHARDS = 64
"""As many as `jeton_shard` of schema.sql has."""


def shard_of(run: RunId) -> int:
    """The shard of a run. The database computes the same for the columns called `shard`."""
    return hashlib.md5(run.partition(".")[0].encode(), usedforsecurity=False).digest()[0] % SHARDS


class Worker(msgspec.Struct, frozen=True):
    """A worker, as all see it."""

    id: str
    backend: int  # the process of the database that serves its writing connection
    silent_ms: int


class Shares(msgspec.Struct, frozen=True):
    """What a worker should do about its shards."""

    wanted: int  # more of them, if they are free
    released: tuple[int, ...]


def share(me: str, workers: Sequence[Worker], mine: Sequence[int]) -> Shares:
    """A fair share: all have as many as each other, or one more."""
    names = sorted({me, *(worker.id for worker in workers)})
    each, more = divmod(SHARDS, len(names))
    fair = each + (names.index(me) < more)
    return Shares(max(0, fair - len(mine)), tuple(sorted(mine)[fair:]))
