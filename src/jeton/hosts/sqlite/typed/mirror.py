"""Keeps the typed tables in step with the runs: in the same transaction, and only where a commit touched something."""

from collections.abc import Sequence

import apsw
import msgspec

from jeton.apply.draft import Touched
from jeton.hosts.sqlite.rows import Write
from jeton.hosts.sqlite.typed.tables import Tables, changes_of, create_tables, stored_layout
from jeton.model.ids import GroupId
from jeton.model.json import Schema


class TypedMirror:
    """Fulfils `jeton.hosts.sqlite.rows.Mirror`. A version's tables are made with its first run."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], Tables | None] = {}

    def write(self, db: apsw.Connection, writes: Sequence[Write]) -> None:
        by_tables: dict[Tables, list[Write]] = {}
        for write in writes:
            if write.stored is not None:
                row = write.stored.row
                tables = self._tables(db, row.workflow, row.version)
                if tables is not None:
                    by_tables.setdefault(tables, []).append(write)
        for tables, changed in by_tables.items():
            _write(db, tables, changed)

    def _tables(self, db: apsw.Connection, workflow: str, version: int) -> Tables | None:
        """None: the workflow has no state schema, and its context is nobody's table."""
        key = workflow, version
        if key not in self._known:
            self._known[key] = tables_of(db, workflow, version, create=True)
        return self._known[key]


def _write(db: apsw.Connection, tables: Tables, writes: Sequence[Write]) -> None:
    new = [write.live.state.head.run for write in writes if write.stored is not None and write.stored.number == 0]
    if new:
        tables.add(db, new)
    states = [(write.live.state, write.touched) for write in writes]
    tables.write(db, {state.head.run: changes_of(state, touched.state) for state, touched in states if touched.state})
    tables.write_branches(db, [(state, *place) for state, touched in states for place in _stretches(touched)])


def _stretches(touched: Touched) -> set[tuple[GroupId, int]]:
    """The slots that wrote or arrived, or are merged and gone."""
    return touched.slots | {(group, stretch) for group, _, stretch in touched.arrived}


class _Schemas(msgspec.Struct):
    """The part of a bundle's workflow that tables are made from."""

    state_schema: Schema | None = None


class _Bundle(msgspec.Struct):
    workflows: dict[str, _Schemas]


_bundle = msgspec.json.Decoder(_Bundle).decode


def tables_of(db: apsw.Connection, workflow: str, version: int, *, create: bool = False) -> Tables | None:
    """A version's tables; None if its workflow has no state schema, or if they are not there and are not to be made."""
    layout = stored_layout(db, workflow, version)
    if layout is not None:
        return Tables(layout)
    schema = state_schema_of(db, workflow, version) if create else None
    return None if schema is None else Tables(create_tables(db, workflow, version, schema))


def state_schema_of(db: apsw.Connection, workflow: str, version: int) -> Schema | None:
    bundle: bytes | None = db.execute(
        "select bundle from definitions where name = ? and version = ?", (workflow, version)
    ).get
    found = None if bundle is None else _bundle(bundle).workflows.get(workflow)
    return None if found is None else found.state_schema
