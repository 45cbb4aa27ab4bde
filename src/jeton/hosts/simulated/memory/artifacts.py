"""Artifacts in memory."""

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from jeton.executor.artifacts import (
    MAX_BYTES,
    ArtifactMissing,
    ArtifactReference,
    Artifacts,
    ArtifactTooLarge,
    single_chunk,
)
from jeton.hosts.simulated.memory.tables import ArtifactTable
from jeton.model.ids import RunId

_Value = TypeVar("_Value")


class MemoryArtifacts(Artifacts):
    """Files that are bytes. They live as long as the world."""

    def __init__(self, index: ArtifactTable) -> None:
        super().__init__(Path("simulated"), index)
        self._contents: dict[str, bytes] = {}

    async def keep(
        self, chunks: AsyncIterator[bytes], media_type: str, hold: Callable[[ArtifactReference], Awaitable[_Value]]
    ) -> _Value:
        content = b"".join([chunk async for chunk in chunks])
        if len(content) > MAX_BYTES:
            raise ArtifactTooLarge(f"is larger than {MAX_BYTES} bytes, the limit of an artifact")
        reference = ArtifactReference(f"sha256:{hashlib.sha256(content).hexdigest()}", media_type, len(content))
        self._contents[reference.id] = content
        return await hold(reference)

    async def content(self, id: str) -> bytes:
        if id not in self._contents:
            raise ArtifactMissing(f"there is no artifact {id!r}")
        return self._contents[id]

    async def stream(self, id: str) -> tuple[ArtifactReference, AsyncIterator[bytes]]:
        found = await self._index.find(id)
        if found is None:
            raise ArtifactMissing(f"there is no artifact {id!r}")
        return found, single_chunk(self._contents[id])

    async def drop(self, id: str) -> None:
        await self._index.unless_held(id, partial(self._forget, id))

    def _forget(self, id: str) -> None:
        self._contents.pop(id, None)

    async def read(self, run: RunId, id: str, most: int) -> tuple[ArtifactReference, bytes]:
        found = await self._index.find(id)
        if found is None:
            raise ArtifactMissing(f"there is no artifact {id!r}")
        if found.size > most:
            raise ArtifactTooLarge(f"the artifact has {found.size} bytes, more than max_bytes ({most}) allows")
        await self._index.add(run, found)
        return found, self._contents[id]

    async def collect(self, older_than_ms: int = 0) -> int:
        held = await self._index.held(self._contents)
        loose = [id for id in self._contents if id not in held]
        for id in loose:
            del self._contents[id]
        return len(loose)
