"""Writes the typed tables in the transaction of a commit, where it changed something."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jeton.actor.queries import Queries
from jeton.actor.queries.typed import changed_branches, typed_state
from jeton.apply.draft import Touched
from jeton.hosts.sql.connection import Connection
from jeton.hosts.sql.rows import Write
from jeton.model.ids import RunId
from jeton.model.state.run import RunState

if TYPE_CHECKING:
    from jeton.hosts.sql.mirrors.typed.tables import Tables


class TypedMirror:
    """Fulfils `jeton.hosts.sql.rows.Mirror`. A version's tables are created with its first run."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], Tables | None] = {}
        self._new: set[tuple[str, int]] = set()  # created in the last transaction

    def write(self, db: Connection, writes: Sequence[Write]) -> None:
        self._forget_rolled_back(db)
        by_tables: dict[Tables, list[Write]] = {}
        for write in writes:
            tables = self._tables(db, write)
            if tables is not None and write.turn.entry is not None:
                by_tables.setdefault(tables, []).append(write)
        for tables, changed in by_tables.items():
            new = [write.actor.run for write in changed if write.turn.first]
            if new:
                tables.add(db, new)
            _write(db, tables, [(write.actor.run, write.turn.queries) for write in changed])

    def _tables(self, db: Connection, write: Write) -> Tables | None:
        head, schema = write.turn.head, write.actor.program.workflow.state_schema
        if schema is None:
            return None
        version = head.workflow, head.version
        if version not in self._known:
            from jeton.hosts.sql.mirrors.typed.tables import tables_of  # loaded with the first such workflow

            self._known[version] = tables_of(db, *version, schema)
            self._new.add(version)
        return self._known[version]

    def _forget_rolled_back(self, db: Connection) -> None:
        """Forget tables that were created in a transaction that was rolled back."""
        if not self._new:
            return
        from jeton.hosts.sql.mirrors.typed.tables import stored_layout

        for version in self._new:
            if stored_layout(db, *version) is None:
                del self._known[version]
        self._new.clear()


def write_run(db: Connection, tables: Tables, state: RunState) -> None:
    """Write everything of an imported run."""
    everything = Touched()
    everything.everything(state)
    tables.add(db, [state.head.run])
    whole = Queries(state=typed_state(state, everything), branches=changed_branches(state, everything))
    _write(db, tables, [(state.head.run, whole)])


def _write(db: Connection, tables: Tables, changed: Sequence[tuple[RunId, Queries]]) -> None:
    tables.write(db, {run: queries.state for run, queries in changed if queries.state})
    tables.write_branches(db, [(run, stretch) for run, queries in changed for stretch in queries.branches])
