"""Whether the full-text index of memories has the words that the memories have.

Its tables are SQLite's own, and have no room for digests. What they say follows from the rows of memories.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from jeton.hosts.sql.connection import Connection, Value
from jeton.hosts.sqlite.file.connect import connect

_SETTINGS = {"secure-delete": 1}
_FORMATS = (4, 5)  # of the index: without and with words that were removed in place
_MAKE_TERMS = "create virtual table temp.memory_terms using fts5vocab(main, memory_index, instance)"


def index_problems(path: Path) -> Iterator[str]:
    """What is wrong with the index. SQLite's own check sees whether it contradicts itself."""
    db = connect(path)  # the table that reads an index is a temporary one, and readers may not make any
    try:
        db.execute(_MAKE_TERMS)
        db.execute("begin")
        settings: dict[str, Value] = dict(db.execute("select k, v from memory_index_config"))
        if settings.pop("version", None) not in _FORMATS or settings != _SETTINGS:
            yield "the settings of the index of memories were altered: restore a backup"
        found = _indexed(db)
        for number, place, words in db.execute("select number, place, words from memory_words"):
            places = (("place", word) for word in place.split())
            if found.pop(number, None) != _sum({*places, *(("words", word) for word in words.split())}):
                yield f"the memory with number {number} is not found by its words: restore a backup"
        for number in found:
            yield f"the index has words of a memory with number {number}, which is not there: restore a backup"
    finally:
        db.close()


def _indexed(db: Connection) -> Counter[int]:
    """A sum over the words that the index has of each memory."""
    found: Counter[int] = Counter()
    for term, number, column in db.execute("select term, doc, col from temp.memory_terms"):
        found[number] += _sum([(column, term)])
    return found


def _sum(words: Iterable[tuple[str, str]]) -> int:
    """The same for the same words in any order, and within this process only."""
    return sum(map(hash, words))
