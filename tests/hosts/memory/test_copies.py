"""SQLite leaves copies of rows behind when it moves them. None of a deleted memory is left."""

import random
import string
from pathlib import Path

import apsw

from jeton.executor.memory import MemoryScope, NewMemory
from jeton.hosts.sql.mirrors.memory.rows import delete_memories, put_memory
from jeton.hosts.sqlite.file.connect import FileConnection as Connection
from jeton.hosts.sqlite.file.connect import connect_writer, overwrite_deleted
from jeton.hosts.sqlite.file.migrate import prepare

BOB = MemoryScope("bob")
SEEDS, STEPS = range(20), 50  # without the rewriting, 10 leaves a copy


def word(chance: random.Random, letters: int) -> str:
    return "".join(chance.choices(string.ascii_lowercase, k=letters))


def act(db: Connection, seed: int) -> tuple[dict[str, str], list[str]]:
    """Write and delete at random. Returns the words that only one memory had: of those that are left, and of others."""
    chance = random.Random(seed)
    common = [word(chance, 5) for _ in range(300)]
    kept: dict[str, str] = {}
    gone: list[str] = []
    for step in range(STEPS):
        db.execute("begin immediate")
        for number in range(chance.choice([1, 1, 1, 5])):
            with db:  # a savepoint, as every job of the writer has
                if kept and chance.random() < 0.4:
                    id = chance.choice([*kept])
                    delete_memories(db, BOB, [id])
                    gone.append(kept.pop(id))
                else:
                    mark = word(chance, 12)
                    content = " ".join([*chance.sample(common, chance.choice([3, 10, 50, 200])), mark])
                    new = NewMemory(f"r:{step}:{number}:s", BOB, "fact", content)
                    kept[put_memory(db, new, None, step).id] = mark
        db.execute("commit")
    return kept, gone


def test_no_copy_of_a_deleted_memory_is_left(tmp_path: Path) -> None:
    left: list[tuple[int, str]] = []
    for seed in SEEDS:
        path = tmp_path / f"{seed}.db"
        prepare(path)
        db = connect_writer(path, "normal")
        db.pragma("synchronous", "off")
        overwrite_deleted(db)
        kept, gone = act(db, seed)
        db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        found = path.read_bytes()
        db.close()
        assert all(mark.encode() in found for mark in kept.values())
        left += [(seed, mark) for mark in gone if mark.encode() in found]
    assert left == []
