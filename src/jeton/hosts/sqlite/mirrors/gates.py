"""The list of open gates: in step with the runs, so that what waits for people is found without loading any run."""

from collections.abc import Sequence

from jeton.hosts.sqlite.commit.rows import Write
from jeton.hosts.sqlite.file.connect import Connection, Value
from jeton.model.ids import RunId
from jeton.model.state.run import RunState, Token, WaitingForGate

_OPEN = """
insert or replace into gates(run, token, node, path, title, since, due, answers) values(?, ?, ?, ?, ?, ?, ?, ?)
"""
_CLOSED = "delete from gates where run = ? and token = ?"


class GateMirror:
    """Fulfils `jeton.hosts.sqlite.commit.rows.Mirror`."""

    def write(self, db: Connection, writes: Sequence[Write]) -> None:
        opened: list[tuple[Value, ...]] = []
        closed: list[tuple[Value, ...]] = []
        for write in writes:
            for token_id in write.touched.rest.gates if write.touched.more else ():
                token = write.live.state.tokens.get(token_id)
                if token is None or not isinstance(token.phase, WaitingForGate):
                    closed.append((write.actor.run, token_id))
                else:
                    opened.append(_row(write.actor.run, token, token.phase))
        if opened:
            db.executemany(_OPEN, opened)
        if closed:
            db.executemany(_CLOSED, closed)


def list_gates(db: Connection, state: RunState) -> None:
    """The open gates of a run that comes from another store."""
    waiting = [(token, token.phase) for token in state.tokens.values()]
    rows = [_row(state.head.run, token, at) for token, at in waiting if isinstance(at, WaitingForGate)]
    if rows:
        db.executemany(_OPEN, rows)


def gates_problem(db: Connection, state: RunState) -> str | None:
    """Whether the list says of this run what its tokens do."""
    waiting = [(token, token.phase) for token in state.tokens.values()]
    expected = [_row(state.head.run, token, at) for token, at in waiting if isinstance(at, WaitingForGate)]
    query = "select run, token, node, path, title, since, due, answers from gates where run = ? order by token"
    if list(db.execute(query, (state.head.run,))) == sorted(expected):
        return None
    return "the list of open gates is not what its tokens say"


def _row(run: RunId, token: Token, at: WaitingForGate) -> tuple[Value, ...]:
    return run, token.id, token.node, token.path, at.title, at.since, at.deadline, len(at.answers)
