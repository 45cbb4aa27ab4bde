"""Inserts of many rows in few statements.

Each statement releases the interpreter's lock and waits to get it back from a busy event loop. Row by row, a
transaction would wait as often as it has rows (ADR 8).
"""

from collections.abc import Sequence
from functools import cache

from jeton.hosts.sql.connection import Connection, Value

MOST_ROWS = 64


def insert_many(db: Connection, insert: str, rows: Sequence[Sequence[Value]]) -> None:
    """Execute an insert with one `values(?, …)` for all rows.

    The rows per statement are a power of two, so that few statements have to be prepared."""
    done = 0
    while done < len(rows):
        count = min(MOST_ROWS, 1 << (len(rows) - done).bit_length() - 1)
        db.execute(_statement(insert, count), [value for row in rows[done : done + count] for value in row])
        done += count


@cache
def _statement(insert: str, rows: int) -> str:
    head, _, rest = insert.partition("values")
    one, _, tail = rest.partition(")")
    return f"{head} values {', '.join([one + ')'] * rows)} {tail}"
