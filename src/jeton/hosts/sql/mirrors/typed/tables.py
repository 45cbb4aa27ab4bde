"""The tables of one layout: created, written key by key, and read back."""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

import msgspec
from msgspec import UnsetType
from msgspec.structs import astuple

from jeton.actor.queries.typed import BranchRow, Stretch
from jeton.actor.typed.cells import Cell
from jeton.actor.typed.layout import Layout, plan_layout
from jeton.actor.typed.rows import Cells, Rows, join, rows_of, same_texts, split, top_key
from jeton.actor.whole.digests import row_digest
from jeton.hosts.sql.connection import Connection, Row
from jeton.hosts.sql.mirrors.typed.ddl import create_statements
from jeton.hosts.sql.mirrors.typed.statements import Statements
from jeton.model.failure import BrokenInvariant
from jeton.model.ids import RunId
from jeton.model.json import Json, JsonObject, Schema
from jeton.model.state.run import SLOTS_PER_STRETCH

Changes: TypeAlias = Mapping[RunId, Mapping[str, Json | UnsetType]]
"""By run and top-level key; unset: the key was removed."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Layout).decode


def stored_layout(db: Connection, workflow: str, version: int) -> Layout | None:
    """The layout of a version's tables; None if it has none."""
    query = "select layout from layouts where workflow = ? and version = ?"
    found: bytes | None = db.execute(query, (workflow, version)).get
    return None if found is None else _decode(found)


def stored_layouts(db: Connection) -> list[Layout]:
    """The layouts of all versions."""
    return [_decode(layout) for (layout,) in db.execute("select layout from layouts order by workflow, version")]


def tables_of(db: Connection, workflow: str, version: int, schema: Schema | None) -> "Tables | None":
    """A version's tables, created if need be; None for a workflow without a state schema."""
    if schema is None:
        return None
    return Tables(stored_layout(db, workflow, version) or create_tables(db, workflow, version, schema))


def create_tables(db: Connection, workflow: str, version: int, schema: Schema) -> Layout:
    """Create a version's tables. The caller has begun a transaction."""
    db.dialect.lock(db, "layouts")
    taken = db.dialect.table_names(db)
    layout = plan_layout(workflow, version, schema, taken)
    for statement in create_statements(db.dialect, layout):
        db.execute(statement)
    row = workflow, version, _encode(layout)
    insert = "insert into layouts(workflow, version, layout, digest) values(?, ?, ?, ?)"
    db.execute(insert, (*row, row_digest("layouts", *row)))
    db.dialect.tables_created(db, taken)
    return layout


class Tables:
    """The tables of one layout. The caller brings the connection, and has begun a transaction."""

    def __init__(self, layout: Layout) -> None:
        self._sql = Statements(layout)
        self._layout = layout

    @property
    def lists(self) -> tuple[str, ...]:
        """The tables of items, outer before inner."""
        return tuple(statements.table for statements in self._sql.lists)

    def add(self, db: Connection, runs: Iterable[RunId]) -> None:
        """Add an empty row for each run."""
        db.executemany(self._sql.insert, [(run,) for run in runs])

    def write(self, db: Connection, changes: Changes) -> None:
        """Rewrite these keys of these runs."""
        by_key: dict[str, dict[RunId, Json | UnsetType]] = {}
        for run, keys in changes.items():
            for key, value in keys.items():
                by_key.setdefault(key, {})[run] = value
        for key, values in by_key.items():
            self._write_key(db, key, values)

    def _write_key(self, db: Connection, key: str, values: Mapping[RunId, Json | UnsetType]) -> None:
        sql = self._sql.key(key)
        split_rows = {run: Rows() for run in values}
        for run, value in values.items():
            if not isinstance(value, UnsetType):
                split(key, sql.place, value, split_rows[run])
        if sql.update is not None:
            cells = [(*_in_order(sql.columns, rows.cells), run) for run, rows in split_rows.items()]
            db.executemany(sql.update, cells)
        for statements in reversed(sql.lists):  # inner before outer
            db.executemany(statements.delete, [(run,) for run in values])
        for statements in sql.lists:
            items = [
                (run, *positions, *_in_order(statements.columns, cells))
                for run, rows in split_rows.items()
                for positions, cells in rows.items.get(statements.table, ())
            ]
            if items:
                db.executemany(statements.insert, items)
        db.executemany(self._sql.delete_rest, [(run, key) for run in values])
        rest = [(run, key, at, text) for run, rows in split_rows.items() for at, text in rows.rest]
        if rest:
            db.executemany(self._sql.insert_rest, rest)

    def write_branches(self, db: Connection, stretches: Iterable[tuple[RunId, Stretch]]) -> None:
        """Rewrite the rows of these stretches of slots."""
        gone: list[tuple[str, int, int, int]] = []
        rows: list[tuple[str, int, int, str, str | None]] = []
        for run, stretch in stretches:
            gone.append((run, stretch.group, stretch.first, stretch.first + SLOTS_PER_STRETCH))
            rows += [(run, *astuple(row)) for row in stretch.rows]
        if gone:
            db.executemany(self._sql.delete_branches, gone)
        if rows:
            db.executemany(self._sql.insert_branch, rows)

    def read(self, db: Connection, run: RunId) -> JsonObject | None:
        """The state, exactly as it was written; None for a run without a row."""
        rows = self._read_rows(db, run)
        return None if rows is None else join(self._layout.state, rows)

    def has_texts_of(self, db: Connection, run: RunId, state: JsonObject) -> bool:
        """Whether the texts in the rows of a run are those of its state, to the last character."""
        rows = self._read_rows(db, run)
        return rows is not None and same_texts(rows, rows_of(self._layout.state, state))

    def _read_rows(self, db: Connection, run: RunId) -> Rows | None:
        found = list(db.execute(self._sql.select, (run,)))
        if not found:
            return None
        rows = Rows()
        rows.cells = _by_name(self._sql.columns, found[0][1:])
        for statements in self._sql.lists:
            depth = statements.depth
            rows.items[statements.table] = [
                (row[:depth], _by_name(statements.columns, row[depth:]))
                for row in db.execute(statements.select, (run,))
            ]
        for key, pointer, text in db.execute(self._sql.select_rest, (run,)):
            if top_key(pointer) != key:
                raise BrokenInvariant("a row of the rest table has another key than its path", key=key, path=pointer)
            rows.rest.append((pointer, text))
        return rows

    def read_branches(self, db: Connection, run: RunId) -> list[BranchRow]:
        """The rows of the run's slots, in order."""
        return [BranchRow(*found[1:]) for found in db.execute(self._sql.select_branches, (run,))]

    def drop_run(self, db: Connection, run: RunId) -> None:
        """Delete a run's row, and with it all rows that refer to it."""
        db.execute(self._sql.delete, (run,))


def _in_order(columns: tuple[str, ...], cells: Cells) -> list[Cell | None]:
    return [cells.get(name) for name in columns]


def _by_name(columns: tuple[str, ...], row: Row) -> Cells:
    return {name: cell for name, cell in zip(columns, row, strict=True) if cell is not None}
