"""The list of open gates: in step with the runs, so that what waits for people is found without loading any run."""

from collections.abc import Sequence

from jeton.hosts.sqlite.connect import Connection, Value
from jeton.hosts.sqlite.rows import Write
from jeton.model.run import WaitingForGate

_OPEN = """
insert or replace into gates(run, token, node, path, title, since, due, answers) values(?, ?, ?, ?, ?, ?, ?, ?)
"""
_CLOSED = "delete from gates where run = ? and token = ?"


class GateMirror:
    """Fulfils `jeton.hosts.sqlite.rows.Mirror`."""

    def write(self, db: Connection, writes: Sequence[Write]) -> None:
        opened: list[tuple[Value, ...]] = []
        closed: list[tuple[Value, ...]] = []
        for write in writes:
            for token_id in write.touched.gates:
                token = write.live.state.tokens.get(token_id)
                if token is None or not isinstance(token.phase, WaitingForGate):
                    closed.append((write.actor.run, token_id))
                else:
                    at, answers = token.phase, len(token.phase.answers)
                    place = (token.id, token.node, token.path)
                    opened.append((write.actor.run, *place, at.title, at.since, at.deadline, answers))
        if opened:
            db.executemany(_OPEN, opened)
        if closed:
            db.executemany(_CLOSED, closed)
