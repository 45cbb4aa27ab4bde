"""Messages that wait in the store."""

from collections.abc import Sequence

from jeton.actor.whole.digests import row_digest
from jeton.hosts.sql.bulk import insert_many
from jeton.hosts.sql.connection import Connection
from jeton.model.ids import RunId

_INSERT = "insert into inbox(id, run, body, digest) values(?, ?, ?, ?)"


def put_messages(db: Connection, messages: Sequence[tuple[RunId, bytes]]) -> Sequence[int]:
    """Store messages for runs. Returns their numbers. The caller has begun a transaction."""
    numbers = db.dialect.next_numbers(db, "inbox", len(messages))
    rows = [
        (number, run, body, row_digest("inbox", number, run, body))
        for number, (run, body) in zip(numbers, messages, strict=True)
    ]
    insert_many(db, _INSERT, rows)
    db.dialect.messages_stored(db, [run for run, _ in messages])
    return numbers
