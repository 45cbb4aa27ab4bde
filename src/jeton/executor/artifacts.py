"""Artifacts: files named by what is in them, and an index of who holds them.

A run's state has references only. A file is written first and indexed after, and the index lets go first and the file
goes after: a crash leaves a file too many, never one too few, and `collect` finds it.
"""

import asyncio
import hashlib
import os
import re
import secrets
import time
from collections.abc import AsyncIterator, Collection
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import msgspec

from jeton.model.ids import RunId

ID = re.compile(r"sha256:([0-9a-f]{2})([0-9a-f]{62})")
MOST_BYTES = 1024 * 1024 * 1024
MOST_LISTED = 1000
COLLECT_AFTER_MS = 3_600_000


class ArtifactReference(msgspec.Struct, frozen=True):
    """An artifact as a run's state knows it."""

    id: str
    media_type: str
    size: int


class ArtifactMissing(Exception):
    """There is no such artifact, or its file is gone or damaged."""


class ArtifactTooLarge(Exception):
    """It has more bytes than it may, or than were asked for; the text names the bound."""


class ArtifactIndex(Protocol):
    """Which runs hold which artifacts. All is durable when a method returns."""

    async def add(self, run: RunId, reference: ArtifactReference) -> None:
        """The run holds it from now on, if it does not already."""
        ...

    async def find(self, id: str) -> ArtifactReference | None:
        """The artifact, whoever holds it."""
        ...

    async def held_by(self, run: RunId, limit: int) -> list[ArtifactReference]:
        """The first of those a run holds, by id."""
        ...

    async def remove(self, run: RunId, id: str) -> bool:
        """The run lets go of it; whether it held it."""
        ...

    async def held(self, ids: Collection[str]) -> set[str]:
        """Those that some run holds."""
        ...


class MemoryArtifactIndex:
    """An index for as long as the process lives."""

    def __init__(self) -> None:
        self._held: dict[tuple[RunId, str, str], ArtifactReference] = {}

    async def add(self, run: RunId, reference: ArtifactReference) -> None:
        self._held.setdefault((run, reference.id, reference.media_type), reference)

    async def find(self, id: str) -> ArtifactReference | None:
        return next((held for held in self._held.values() if held.id == id), None)

    async def held_by(self, run: RunId, limit: int) -> list[ArtifactReference]:
        return [held for key, held in sorted(self._held.items()) if key[0] == run][:limit]

    async def remove(self, run: RunId, id: str) -> bool:
        keys = [key for key in self._held if key[:2] == (run, id)]
        for key in keys:
            del self._held[key]
        return bool(keys)

    async def held(self, ids: Collection[str]) -> set[str]:
        return {held.id for held in self._held.values()} & set(ids)


class Artifacts:
    """All artifacts of a store. Lives on one event loop."""

    def __init__(self, folder: Path, index: ArtifactIndex | None = None) -> None:
        self._folder = folder
        self._index = MemoryArtifactIndex() if index is None else index
        self._moving = asyncio.Lock()  # a file must not go between being written and being indexed

    async def save(self, run: RunId, chunks: AsyncIterator[bytes], media_type: str) -> ArtifactReference:
        """Keep what comes, for the run. If `chunks` raises, nothing is kept."""
        draft = _Draft(self._folder)
        try:
            async for chunk in chunks:
                if draft.size + len(chunk) > MOST_BYTES:
                    raise ArtifactTooLarge(f"has more than {MOST_BYTES} bytes, which is the most of an artifact")
                await asyncio.to_thread(draft.write, chunk)
            await asyncio.to_thread(draft.sync)
            reference = ArtifactReference(draft.id, media_type, draft.size)
            async with self._moving:
                await asyncio.to_thread(draft.move, self._path(draft.id))
                await self._index.add(run, reference)
        finally:
            draft.discard()
        return reference

    async def write(self, run: RunId, content: bytes, media_type: str) -> ArtifactReference:
        """Keep these bytes, for the run."""
        return await self.save(run, _once(content), media_type)

    async def read(self, run: RunId, id: str, most: int) -> tuple[ArtifactReference, bytes]:
        """The content, and the run holds it from now on. Raises ArtifactMissing and ArtifactTooLarge."""
        found = await self._index.find(id)
        if found is None:
            raise ArtifactMissing(f"there is no artifact {id!r}")
        if found.size > most:
            raise ArtifactTooLarge(f"the artifact has {found.size} bytes, and max_bytes allows {most}")
        content = await asyncio.to_thread(self._read, id)
        await self._index.add(run, found)
        return found, content

    async def list(self, run: RunId) -> list[ArtifactReference]:
        """What the run holds, up to a bound."""
        found = await self._index.held_by(run, MOST_LISTED + 1)
        if len(found) > MOST_LISTED:
            raise ArtifactTooLarge(f"the run has more than {MOST_LISTED} artifacts, which is the most that is listed")
        return found

    async def delete(self, run: RunId, id: str) -> bool:
        """The run lets go; the file goes when nobody holds it any more."""
        return await self._index.remove(run, id)

    async def collect(self, older_than_ms: int = COLLECT_AFTER_MS) -> int:
        """Delete the files that no run holds, but the newest: how many. Folder by folder, between other work."""
        gone = 0
        until = time.time() - older_than_ms / 1000
        for folder in await asyncio.to_thread(_listed, self._folder):
            async with self._moving:
                files = {_id(file): file for file in await asyncio.to_thread(_listed, folder)}
                held = await self._index.held(files)
                loose = [file for id, file in files.items() if id not in held]
                gone += await asyncio.to_thread(_delete, loose, until)
        return gone

    def _path(self, id: str) -> Path:
        parts = ID.fullmatch(id)
        if parts is None:
            raise ArtifactMissing(f"{id!r} names no artifact")
        return self._folder / parts[1] / parts[2]

    def _read(self, id: str) -> bytes:
        try:
            content = self._path(id).read_bytes()
        except FileNotFoundError:
            raise ArtifactMissing(f"the file of {id!r} is gone") from None
        if _id_of(hashlib.sha256(content).hexdigest()) != id:
            raise ArtifactMissing(f"the file of {id!r} is damaged: it holds something else")
        return content


class _Draft:
    """A file being written, before it has its name."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / f"{secrets.token_hex(8)}.draft"
        self._file = self._path.open("xb")
        self._hash = hashlib.sha256()
        self.size = 0

    @property
    def id(self) -> str:
        return _id_of(self._hash.hexdigest())

    def write(self, chunk: bytes) -> None:
        self._file.write(chunk)
        self._hash.update(chunk)
        self.size += len(chunk)

    def sync(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())

    def move(self, to: Path) -> None:
        """Take its name. One that is there is replaced: it says the same, and is now as good as new."""
        to.parent.mkdir(exist_ok=True)
        self._path.replace(to)
        for folder in (to.parent, to.parent.parent):
            _sync_folder(folder)

    def discard(self) -> None:
        self._file.close()
        self._path.unlink(missing_ok=True)


async def _once(content: bytes) -> AsyncIterator[bytes]:
    yield content


def _id_of(digest: str) -> str:
    return f"sha256:{digest}"


def _id(file: Path) -> str:
    """The artifact that a file in the folder belongs to; a draft belongs to none."""
    return _id_of(file.parent.name + file.name)


def _listed(folder: Path) -> list[Path]:
    """What is in a folder. A draft is a folder of nothing but itself."""
    if folder.is_file():
        return [folder]
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _delete(files: Collection[Path], until: float) -> int:
    gone = 0
    for file in files:
        with suppress(FileNotFoundError):
            if file.stat().st_mtime <= until:
                file.unlink()
                gone += 1
    return gone


def _sync_folder(folder: Path) -> None:
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
