"""Many rows in few steps.

SQLite gives the interpreter's lock away for each step and must have it back for the next, which a busy event loop does
not hand over at once. Row by row a transaction would wait for the loop as often as it has rows (ADR 8).
"""

from collections.abc import Sequence
from functools import cache

from jeton.hosts.sqlite.file.connect import Connection, Value

MOST_ROWS = 64


def put_many(db: Connection, insert: str, rows: Sequence[Sequence[Value]]) -> None:
    """Carry out an insert that ends in `values(?, …)`, or goes on behind it, for all rows.

    They go in by powers of two, so that there are few statements and SQLite knows them all after a while."""
    done = 0
    while done < len(rows):
        count = min(MOST_ROWS, 1 << (len(rows) - done).bit_length() - 1)
        db.execute(_of(insert, count), [value for row in rows[done : done + count] for value in row])
        done += count


@cache
def _of(insert: str, rows: int) -> str:
    head, _, rest = insert.partition("values")
    one, _, behind = rest.partition(")")
    return f"{head} values {', '.join([one + ')'] * rows)} {behind}"
