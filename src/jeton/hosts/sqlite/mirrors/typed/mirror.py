"""Keeps the typed tables in step with the runs: in the same transaction, and only where a commit touched something."""

from collections.abc import Sequence

from jeton.apply.draft import Touched
from jeton.hosts.sqlite.commit.rows import Write
from jeton.hosts.sqlite.file.connect import Connection
from jeton.hosts.sqlite.mirrors.typed.tables import Tables, changes_of, stored_layout, tables_of
from jeton.model.ids import GroupId
from jeton.model.state.run import RunState


class TypedMirror:
    """Fulfils `jeton.hosts.sqlite.commit.rows.Mirror`. A version's tables are made with its first run."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], Tables | None] = {}
        self._new: set[tuple[str, int]] = set()  # since the last transaction

    def write(self, db: Connection, writes: Sequence[Write]) -> None:
        self._look_again(db)
        by_tables: dict[Tables, list[Write]] = {}
        for write in writes:
            tables = self._tables(db, write)
            if tables is not None and write.stored is not None:
                by_tables.setdefault(tables, []).append(write)
        for tables, changed in by_tables.items():
            new = [write.actor.run for write in changed if write.first]
            if new:
                tables.add(db, new)
            _write(db, tables, [(write.live.state, write.touched) for write in changed])

    def _tables(self, db: Connection, write: Write) -> Tables | None:
        head = write.live.state.head
        version = head.workflow, head.version
        if version not in self._known:
            self._known[version] = tables_of(db, *version, write.actor.program.workflow.state_schema)
            self._new.add(version)
        return self._known[version]

    def _look_again(self, db: Connection) -> None:
        """Tables made in a transaction that was taken back are not there."""
        for version in self._new:
            if stored_layout(db, *version) is None:
                del self._known[version]
        self._new.clear()


def write_whole(db: Connection, tables: Tables, state: RunState) -> None:
    """A run that came from elsewhere: all of it at once."""
    everything = Touched()
    everything.state.update(state.state)
    everything.rest.slots.update((id, stretch) for id, group in state.groups.items() for stretch in group.stretches())
    tables.add(db, [state.head.run])
    _write(db, tables, [(state, everything)])


def _write(db: Connection, tables: Tables, changed: Sequence[tuple[RunState, Touched]]) -> None:
    tables.write(db, {state.head.run: changes_of(state, touched.state) for state, touched in changed if touched.state})
    tables.write_branches(db, [(state, *place) for state, touched in changed for place in _stretches(touched)])


def _stretches(touched: Touched) -> set[tuple[GroupId, int]]:
    """The slots that wrote or arrived, or are merged and gone."""
    if not touched.more:
        return set()
    return touched.rest.slots | {(group, stretch) for group, _, stretch in touched.rest.arrived}
