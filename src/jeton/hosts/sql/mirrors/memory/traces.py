"""Which conversations and runs still tell in their history what was deleted from a memory."""

from collections.abc import Iterable, Iterator

import msgspec

from jeton.executor.memory import Memory
from jeton.hosts.sql.connection import Connection

LONGEST = 300  # characters of the content that are looked for
SHORTEST = 20  # a shorter content is looked for as a whole value, because it may be a part of anything

# Everything of a run that holds text. Journals may be pruned, and then the rest still has it.
_TEXTS = (("journal", "body"), ("sections", "body"), ("snapshots", "body"), ("runs", "head"), ("runs", "small"))


def told_in(db: Connection, memory: Memory) -> tuple[str, ...]:
    """The conversation that it comes from, and all others whose history has its content."""
    source = memory.source.conversation
    return tuple(dict.fromkeys([*(() if source is None else (source,)), *_roots(db, _having(db, memory.content))]))


def _having(db: Connection, content: str) -> list[str]:
    quoted = msgspec.json.encode(content[:LONGEST])
    wanted = quoted if len(content) < SHORTEST else quoted[1:-1]
    tables = (f"select run from {table} where {db.dialect.contains.format(column)}" for table, column in _TEXTS)
    return [run for (run,) in db.execute(f"{' union '.join(tables)} order by run", (wanted,))]


def _roots(db: Connection, runs: Iterable[str]) -> Iterator[str]:
    """The conversation or run at whose call each of them runs."""
    for run in runs:
        root, parent = run, run
        while parent is not None:
            root, parent = parent, db.execute("select parent from runs where run = ?", (parent,)).get
        yield root
