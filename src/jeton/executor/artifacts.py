"""Artifacts: files named by the hash of their content, and an index of the runs that hold them.

The state of a run has references only. A file is written before it is indexed, and deleted after its index entry: a
crash can leave an unused file, which `collect` deletes, but never a reference without its file.
"""

import asyncio
import hashlib
import os
import re
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec

from jeton.model.ids import RunId

ID = re.compile(r"sha256:([0-9a-f]{2})([0-9a-f]{62})")
MAX_BYTES = 1024 * 1024 * 1024
MAX_LISTED = 1000
COLLECT_AFTER_MS = 3_600_000
UPLOADS = "upload:"  # holds what was uploaded on a day, before the day; no run has such a name
CHUNK_BYTES = 256 * 1024

_Value = TypeVar("_Value")


class ArtifactReference(msgspec.Struct, frozen=True):
    """An artifact as it appears in the state of a run."""

    id: str
    media_type: str
    size: int


class ArtifactMissing(Exception):
    """The artifact does not exist, or its file is missing or damaged."""


class ArtifactTooLarge(Exception):
    """The artifact exceeds a limit, which the message names."""


class ArtifactIndex(Protocol):
    """Which runs hold which artifacts. Every change is durable when its method returns."""

    async def add(self, run: RunId, reference: ArtifactReference) -> None:
        """Record that the run holds the artifact."""
        ...

    async def find(self, id: str) -> ArtifactReference | None:
        """The artifact, if any run holds it."""
        ...

    async def held_by(self, run: RunId, limit: int) -> list[ArtifactReference]:
        """The artifacts that a run holds, sorted by id, up to a limit."""
        ...

    async def remove(self, run: RunId, id: str) -> bool:
        """Record that the run no longer holds the artifact. Returns False if it did not."""
        ...

    async def release(self, first: str, last: str) -> None:
        """Record that holders whose names are from `first` on, and before `last`, hold nothing any more."""
        ...

    async def held(self, ids: Collection[str]) -> set[str]:
        """Those of the ids that some run holds."""
        ...

    async def unless_held(self, id: str, act: Callable[[], None]) -> None:
        """Call a function if nobody holds the artifact, and let nobody hold it meanwhile."""
        ...


class MemoryArtifactIndex:
    """An index in memory."""

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

    async def release(self, first: str, last: str) -> None:
        for key in [key for key in self._held if first <= key[0] < last]:
            del self._held[key]

    async def held(self, ids: Collection[str]) -> set[str]:
        return {held.id for held in self._held.values()} & set(ids)

    async def unless_held(self, id: str, act: Callable[[], None]) -> None:
        if not await self.held((id,)):
            act()


class Artifacts:
    """All artifacts of a store. Lives on one event loop."""

    def __init__(self, folder: Path, index: ArtifactIndex | None = None) -> None:
        self._folder = folder
        self._index = MemoryArtifactIndex() if index is None else index
        self._lock = asyncio.Lock()  # a file must not be collected between being written and being indexed

    async def save(self, run: RunId, chunks: AsyncIterator[bytes], media_type: str) -> ArtifactReference:
        """Store a stream as an artifact of the run. If `chunks` raises, nothing is stored."""

        async def hold(reference: ArtifactReference) -> ArtifactReference:
            await self._index.add(run, reference)
            return reference

        return await self.keep(chunks, media_type, hold)

    async def keep(
        self, chunks: AsyncIterator[bytes], media_type: str, hold: Callable[[ArtifactReference], Awaitable[_Value]]
    ) -> _Value:
        """Store a stream, and let `hold` record durably who holds it. Returns what `hold` returns."""
        draft = _Draft(self._folder)
        try:
            async for chunk in chunks:
                if draft.size + len(chunk) > MAX_BYTES:
                    raise ArtifactTooLarge(f"is larger than {MAX_BYTES} bytes, the limit of an artifact")
                await asyncio.to_thread(draft.write, chunk)
            await asyncio.to_thread(draft.sync)
            reference = ArtifactReference(draft.id, media_type, draft.size)
            async with self._lock:
                await asyncio.to_thread(draft.publish, self._path(draft.id))
                held = await hold(reference)
                await asyncio.to_thread(draft.republish, self._path(draft.id))
        finally:
            draft.discard()
        return held

    async def write(self, run: RunId, content: bytes, media_type: str) -> ArtifactReference:
        """Store bytes as an artifact of the run."""
        return await self.save(run, single_chunk(content), media_type)

    async def read(self, run: RunId, id: str, most: int) -> tuple[ArtifactReference, bytes]:
        """The content of an artifact, which the run holds from now on. Raises ArtifactMissing or ArtifactTooLarge."""
        found = await self._index.find(id)
        if found is None:
            raise ArtifactMissing(f"there is no artifact {id!r}")
        if found.size > most:
            raise ArtifactTooLarge(f"the artifact has {found.size} bytes, more than max_bytes ({most}) allows")
        content = await self.content(id)
        await self._index.add(run, found)
        return found, content

    async def hold(self, run: RunId, id: str) -> ArtifactReference:
        """An artifact that somebody holds, which the run holds from now on too. Raises ArtifactMissing."""
        async with self._lock:
            found = await self._index.find(id)
            if found is None:
                raise ArtifactMissing(f"there is no artifact {id!r}")
            await self._index.add(run, found)
        return found

    async def content(self, id: str) -> bytes:
        """The content of an artifact that somebody else holds. Raises ArtifactMissing."""
        return await asyncio.to_thread(self._read, id)

    async def upload(self, day: str, chunks: AsyncIterator[bytes], media_type: str) -> ArtifactReference:
        """Store what was uploaded on a day, such as `2026-05-04`. It is held until uploads of that day are released."""
        return await self.save(RunId(f"{UPLOADS}{day}"), chunks, media_type)

    async def release_uploads(self, before: str) -> None:
        """Release what was uploaded before a day. A run that has read it holds it too."""
        await self._index.release(UPLOADS, f"{UPLOADS}{before}")

    async def stream(self, id: str) -> tuple[ArtifactReference, AsyncIterator[bytes]]:
        """An artifact that anybody holds, and its content in parts. Raises ArtifactMissing, also for a damaged file."""
        found = await self._index.find(id)
        if found is None:
            raise ArtifactMissing(f"there is no artifact {id!r}")
        damage = await asyncio.to_thread(damage_of, self._folder, id)
        if damage is not None:
            raise ArtifactMissing(f"the file of {id!r} {damage}")
        return found, _parts_of(self._path(id))

    async def list(self, run: RunId) -> list[ArtifactReference]:
        """The artifacts that the run holds. Raises ArtifactTooLarge if there are too many to list."""
        found = await self._index.held_by(run, MAX_LISTED + 1)
        if len(found) > MAX_LISTED:
            raise ArtifactTooLarge(f"the run has more than {MAX_LISTED} artifacts, the limit of a list")
        return found

    async def delete(self, run: RunId, id: str) -> bool:
        """Release an artifact. Its file is deleted when no run holds it any more."""
        return await self._index.remove(run, id)

    async def drop(self, id: str) -> None:
        """Delete the file of an artifact at once, unless somebody holds it. Also safe beside the owner of the store."""
        async with self._lock:
            await self._index.unless_held(id, lambda: self._path(id).unlink(missing_ok=True))

    async def collect(self, older_than_ms: int = COLLECT_AFTER_MS) -> int:
        """Delete the files that no run holds, except recent ones, one folder at a time. Returns how many."""
        deleted = 0
        until = time.time() - older_than_ms / 1000
        for folder in await asyncio.to_thread(_files_in, self._folder):
            async with self._lock:
                files = {_id_of_file(file): file for file in await asyncio.to_thread(_files_in, folder)}
                held = await self._index.held(files)
                unused = [file for id, file in files.items() if id not in held]
                deleted += await asyncio.to_thread(_delete, unused, until)
        return deleted

    def _path(self, id: str) -> Path:
        return _path_of(self._folder, id)

    def _read(self, id: str) -> bytes:
        try:
            content = self._path(id).read_bytes()
        except FileNotFoundError:
            raise ArtifactMissing(f"the file of {id!r} is missing") from None
        if _id_of(hashlib.sha256(content).hexdigest()) != id:
            raise ArtifactMissing(f"the file of {id!r} is damaged: its content has changed")
        return content


async def _parts_of(file: Path) -> AsyncIterator[bytes]:
    opened = await asyncio.to_thread(file.open, "rb")
    try:
        while part := await asyncio.to_thread(opened.read, CHUNK_BYTES):
            yield part
    finally:
        opened.close()


def discard_drafts(folder: Path) -> None:
    """Delete what a process that ended suddenly was about to store. Only its successor may call this."""
    for suffix in ("draft", "spare"):
        for file in folder.glob(f"*.{suffix}"):
            file.unlink(missing_ok=True)


def damage_of(folder: Path, id: str) -> str | None:
    """What is wrong with the file of an artifact; None if it has the content that the id names."""
    try:
        with _path_of(folder, id).open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except ArtifactMissing:
        return "has an id that no artifact has"
    except OSError as problem:
        return f"cannot be read: {problem.strerror}"
    return None if _id_of(found) == id else "has other content than was stored"


def _path_of(folder: Path, id: str) -> Path:
    parts = ID.fullmatch(id)
    if parts is None:
        raise ArtifactMissing(f"{id!r} is not the id of an artifact")
    return folder / parts[1] / parts[2]


class _Draft:
    """A file being written, before it has its final name."""

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

    def publish(self, to: Path) -> None:
        """Give the file its final name too, replacing one with the same content."""
        to.parent.mkdir(exist_ok=True)
        spare = self._path.with_suffix(".spare")
        spare.hardlink_to(self._path)
        spare.replace(to)
        for folder in (to.parent, to.parent.parent):
            _sync_folder(folder)

    def republish(self, to: Path) -> None:
        """Publish it again if another process dropped it, which it may until it sees that the file is held."""
        if not to.exists():
            self.publish(to)

    def discard(self) -> None:
        self._file.close()
        self._path.unlink(missing_ok=True)


async def single_chunk(content: bytes) -> AsyncIterator[bytes]:
    """Bytes as a stream."""
    yield content


def _id_of(digest: str) -> str:
    return f"sha256:{digest}"


def _id_of_file(file: Path) -> str:
    """The id of the artifact stored in a file. That of a draft is the id of no artifact."""
    return _id_of(file.parent.name + file.name)


def _files_in(folder: Path) -> list[Path]:
    """The files in a folder; for a draft, which is a file, the draft itself."""
    if folder.is_file():
        return [folder]
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _delete(files: Collection[Path], until: float) -> int:
    deleted = 0
    for file in files:
        with suppress(FileNotFoundError):
            if file.stat().st_mtime <= until:
                file.unlink()
                deleted += 1
    return deleted


def _sync_folder(folder: Path) -> None:
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
