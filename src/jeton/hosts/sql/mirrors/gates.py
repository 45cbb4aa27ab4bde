"""The table of open gates."""

from collections.abc import Sequence

from msgspec.structs import astuple

from jeton.actor.queries.gates import open_gates
from jeton.actor.rows import GateRow
from jeton.hosts.sql.connection import Connection, Value, upsert
from jeton.hosts.sql.rows import Write
from jeton.model.state.run import RunState

_COLUMNS = "run, token, node, path, title, since, due, answers, question"
_OPEN = upsert("gates", ("run", "token"), tuple(_COLUMNS.split(", ")[2:]))
_CLOSED = "delete from gates where run = ? and token = ?"


class GateMirror:
    """Fulfils `jeton.hosts.sql.rows.Mirror`."""

    def write(self, db: Connection, writes: Sequence[Write]) -> None:
        opened: list[tuple[Value, ...]] = []
        closed: list[tuple[Value, ...]] = []
        for write in writes:
            opened += map(astuple, write.turn.queries.gates)
            closed += [(write.actor.run, token) for token in write.turn.queries.closed_gates]
        if opened:
            db.executemany(_OPEN, opened)
        if closed:
            db.executemany(_CLOSED, closed)


def put_gates(db: Connection, state: RunState) -> None:
    """Store the open gates of an imported run."""
    rows = open_gates(state)
    if rows:
        db.executemany(_OPEN, map(astuple, rows))


def gates_problem(db: Connection, state: RunState) -> str | None:
    """What is wrong with the gates of a run in the table; None if they are those of its tokens."""
    query = f"select {_COLUMNS} from gates where run = ? order by token"
    if [GateRow(*row) for row in db.execute(query, (state.head.run,))] == open_gates(state):
        return None
    return "the list of open gates is not what its tokens say"
