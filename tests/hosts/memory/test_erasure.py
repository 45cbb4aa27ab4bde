"""What is deleted from a memory is in no byte of the store's files, and what is kept is all there."""

import asyncio
import random
import string
from pathlib import Path

import pytest

from jeton.actor.retention import Rule
from jeton.actor.starts import NewRun
from jeton.actor.whole.portable import decode_portable
from jeton.executor.memory import MemoryScope, NewMemory, Vector
from jeton.hosts.sqlite import SqliteHost
from jeton.hosts.sqlite.tools.backup import backup
from jeton.hosts.sqlite.tools.portable import export_run, import_run
from jeton.hosts.sqlite.tools.verify import verify
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from tests.hosts.library import chain, library
from tests.hosts.trivial import TrivialWorkers
from tests.hosts.works import work

BOB = MemoryScope("bob")
STEPS = 120
PATIENCE_S = 10.0


def files_of(store: Path) -> list[Path]:
    """Every file of a store, with those of its artifacts."""
    return [file for file in store.parent.rglob("*") if file.is_file() and file.name != f"{store.name}-shm"]


def bytes_of(store: Path) -> bytes:
    return b"\n".join(file.read_bytes() for file in files_of(store))


class Writing:
    """Memories with a word each that no other has; some of them deleted."""

    def __init__(self, host: SqliteHost, seed: int) -> None:
        self.host = host
        self.chance = random.Random(seed)
        self.kept: dict[str, str] = {}  # the word of each, by id
        self.gone: list[str] = []
        self._calls = 0
        self._common = [self.word(4) for _ in range(100)]

    def word(self, letters: int) -> str:
        return "".join(self.chance.choices(string.ascii_lowercase, k=letters))

    async def write(self, supersedes: str | None = None) -> None:
        self._calls += 1
        mark = self.word(12)
        words = [*self.chance.sample(self._common, self.chance.choice([2, 8, 40])), mark]
        repeated = self.chance.choice([1, 1, 1, 20, 400])  # the last is an artifact
        new = NewMemory(
            f"r1:{self._calls}:1:s0",
            BOB,
            "fact",
            " ".join(words * repeated),
            metadata={"mark": f"about {mark}"},
            supersedes=supersedes,
            vector=Vector("m", mark.encode()) if self.chance.random() < 0.5 else None,
        )
        self.kept[(await self.host.memory.write(new)).id] = mark

    async def step(self) -> None:
        what = self.chance.random()
        if what < 0.2 and self.kept:
            ids = self.chance.sample([*self.kept], min(len(self.kept), self.chance.choice([1, 1, 3])))
            assert len(await self.host.memory.delete(BOB, ids)) == len(ids)
            self.gone += [self.kept.pop(id) for id in ids]
        elif what < 0.3 and self.kept:
            old = self.chance.choice([*self.kept])
            memory = await self.host.memory.read(BOB, old)
            assert memory is not None
            await self.write(None if memory.superseded_by else old)
        else:
            await self.write()


@pytest.mark.parametrize("seed", range(3))
async def test_deleted_words_are_in_no_byte(path: Path, seed: int) -> None:
    host = await SqliteHost.open(path, workers=TrivialWorkers(work), durability="normal")
    version = await host.deploy(library(w=chain(3)), "w")
    writing = Writing(host, seed)
    for step in range(STEPS):
        await writing.step()
        if step % 20 == 0:  # pages are freed, moved and used again by others
            await host.ended((await host.start(NewRun("w", version, {"n": 0}))).run)
        if step % 60 == 0:
            await host.prune([Rule("run", 0)])
    await host.close(0.0)
    found = bytes_of(path)
    assert [word for word in writing.gone if word.encode() in found] == []
    assert [word for word in writing.kept.values() if word.encode() not in found] == []
    assert len(writing.gone) > 5
    assert verify(path).ok


async def test_what_several_delete_at_once_is_gone(path: Path) -> None:
    host = await SqliteHost.open(path, workers=None)
    writing = Writing(host, 1)
    for _ in range(20):
        await writing.write()
    ids = [*writing.kept][:10]
    await asyncio.gather(*(host.memory.delete(BOB, [id]) for id in ids))
    await host.close(0.0)
    found = bytes_of(path)
    assert not any(writing.kept[id].encode() in found for id in ids)
    assert verify(path).ok


async def test_a_guest_deletes_beside_the_owner_who_then_brings_in_the_log(path: Path) -> None:
    owner = await SqliteHost.open(path, workers=None)
    writing = Writing(owner, 2)
    for _ in range(10):
        await writing.write()
    long = await owner.memory.write(NewMemory("r1:0:1:s0", BOB, "fact", "gigantically " * 1000))
    guest = await SqliteHost.open(path, workers=None, owner=False)
    ids = [*[*writing.kept][:5], long.id]
    assert len(await guest.memory.delete(BOB, ids)) == 6
    await guest.close()
    assert await owner.memory.read(BOB, ids[0]) is None
    words = [*(writing.kept[id].encode() for id in ids[:5]), b"gigantically"]
    async with asyncio.timeout(PATIENCE_S):
        while any(word in bytes_of(path) for word in words):
            await asyncio.sleep(0.1)
    await owner.memory.write(NewMemory("r1:99:1:s0", BOB, "fact", "goes on"))
    await owner.close(0.0)
    assert verify(path).ok


async def test_a_file_that_a_run_holds_too_is_kept(path: Path) -> None:
    host = await SqliteHost.open(path, workers=None)
    content = "gigantically " * 1000
    memory = await host.memory.write(NewMemory("r1:0:1:s0", BOB, "fact", content))
    reference = await host.artifacts.write(RunId("r1"), content.encode(), "text/plain")
    await host.memory.delete(BOB, [memory.id])
    assert (await host.artifacts.read(RunId("r1"), reference.id, 100_000))[1] == content.encode()
    await host.close(0.0)
    assert verify(path).ok


async def test_a_file_that_is_dropped_while_it_is_stored_is_stored_all_the_same(path: Path) -> None:
    """A guest may see that nobody holds a file just before the owner says that a run does."""
    host = await SqliteHost.open(path, workers=None)
    content = "gigantically " * 1000
    old = await host.memory.write(NewMemory("r1:0:1:s0", BOB, "fact", content))
    guest = await SqliteHost.open(path, workers=None, owner=False)

    async def many() -> None:
        for number in range(20):
            scope = MemoryScope(f"agent {number}")
            await host.memory.write(NewMemory(f"r1:{number}:2:s0", scope, "fact", content))
            await host.memory.delete(scope, [m.id for m in await host.memory.list(scope)])
        await host.memory.write(NewMemory("r1:99:2:s0", MemoryScope("last"), "fact", content))

    async def drops() -> None:
        await guest.memory.delete(BOB, [old.id])
        for _ in range(20):
            assert old.id
            await guest.memory.delete(BOB, [old.id])

    await asyncio.gather(many(), drops())
    (kept,) = await host.memory.list(MemoryScope("last"))
    whole = await host.memory.read(MemoryScope("last"), kept.id)
    assert whole is not None
    assert whole.content == content
    await guest.close()
    await host.close(0.0)
    assert verify(path).ok


async def test_a_guest_writes_no_memories(path: Path) -> None:
    owner = await SqliteHost.open(path, workers=None)
    guest = await SqliteHost.open(path, workers=None, owner=False)
    with pytest.raises(Refused) as refused:
        await guest.memory.write(NewMemory("k", BOB, "fact", "x"))
    assert refused.value.code == "not_owner"
    await guest.close()
    await owner.close(0.0)


async def test_a_backup_has_the_memories_and_nothing_that_was_deleted(path: Path, tmp_path: Path) -> None:
    host = await SqliteHost.open(path, workers=None)
    writing = Writing(host, 3)
    for _ in range(40):
        await writing.step()
    (tmp_path / "copy").mkdir()
    copy = tmp_path / "copy" / "copy.db"
    backup(path, copy, 0)
    await host.close(0.0)
    found = copy.read_bytes()
    assert [word for word in writing.gone if word.encode() in found] == []
    assert [word for word in writing.kept.values() if word.encode() not in found] == []
    assert verify(copy).ok


async def test_memories_outlive_the_runs_that_wrote_them(path: Path) -> None:
    host = await SqliteHost.open(path, workers=TrivialWorkers(work))
    version = await host.deploy(library(w=chain(2)), "w")
    run = (await host.start(NewRun("w", version, {"n": 0}))).run
    await host.ended(run)
    written = await host.memory.write(NewMemory(f"{run}:0:1:s0", BOB, "fact", "Anna lives in Oslo"))
    assert (await host.prune([Rule("run", -1)])).runs == 1
    memory = await host.memory.read(BOB, written.id)
    assert memory is not None
    assert memory.content == "Anna lives in Oslo"
    again = await host.memory.write(NewMemory(f"{run}:0:1:s0", BOB, "fact", "Anna lives in Oslo"))
    assert again.known, "which call wrote it was forgotten with the run"
    await host.close(0.0)
    assert verify(path).ok


async def test_an_exported_run_takes_no_memories_along(path: Path, tmp_path: Path) -> None:
    host = await SqliteHost.open(path, workers=TrivialWorkers(work))
    version = await host.deploy(library(w=chain(2)), "w")
    run = (await host.start(NewRun("w", version, {"n": 0}))).run
    await host.ended(run)
    await host.memory.write(NewMemory(f"{run}:0:1:s0", BOB, "fact", "Anna lives in Oslo"))
    await host.close(0.0)
    exported = export_run(path, run)
    assert b"Oslo" not in exported
    other = tmp_path / "other.db"
    import_run(other, decode_portable(exported, 0))
    imported = await SqliteHost.open(other, workers=None)
    assert await imported.memory.list(BOB) == []
    again = await imported.memory.write(NewMemory(f"{run}:0:1:s0", BOB, "fact", "Anna lives in Oslo"))
    assert not again.known, "the call is not taken for one that was made here"
    await imported.close(0.0)
    assert verify(other).ok
