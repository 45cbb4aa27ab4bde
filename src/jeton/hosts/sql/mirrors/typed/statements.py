"""The SQL statements of a layout, made once and used for every run."""

import msgspec

from jeton.actor.typed.layout import RUN, ColumnPlace, Layout, List, columns_in, lists_in
from jeton.actor.typed.names import quoted, quoted_list


class ListStatements(msgspec.Struct, frozen=True):
    """The statements of one table of items. `columns` are in the order of the statements."""

    table: str
    depth: int
    columns: tuple[str, ...]
    insert: str
    delete: str
    select: str


class KeyStatements(msgspec.Struct, frozen=True):
    """The statements of one top-level key: its columns, its lists and its rest."""

    place: ColumnPlace | None  # None: it is not in the schema
    columns: tuple[str, ...]
    update: str | None
    lists: tuple[ListStatements, ...]


class Statements:
    """All statements of a layout."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.columns = tuple(column.name for column in columns_in(layout.state))
        self.lists = tuple(_list_statements(place) for place in lists_in(layout.state))
        self.insert = f"insert into {quoted(layout.table)}({quoted(RUN)}) values(?) on conflict do nothing"
        self.delete = f"delete from {quoted(layout.table)} where {quoted(RUN)} = ?"
        self.select = f"select {quoted_list((RUN, *self.columns))} from {quoted(layout.table)} where {quoted(RUN)} = ?"
        rest, branches = quoted(layout.rest), quoted(layout.branches)
        self.insert_rest = f'insert into {rest}({quoted(RUN)}, "key", "path", "value") values(?, ?, ?, ?)'
        self.delete_rest = f'delete from {rest} where {quoted(RUN)} = ? and "key" = ?'
        self.select_rest = f'select "key", "path", "value" from {rest} where {quoted(RUN)} = ? order by "key", "path"'
        branch = f'{quoted(RUN)}, "group_id", "branch_index", "status", "output"'
        self.insert_branch = f"insert into {branches}({branch}) values(?, ?, ?, ?, ?)"
        self.delete_branches = (
            f'delete from {branches} where {quoted(RUN)} = ? and "group_id" = ?'
            f' and "branch_index" >= ? and "branch_index" < ?'
        )
        self.select_branches = f"select {branch} from {branches} where {quoted(RUN)} = ? order by 2, 3"
        self._by_table = {statements.table: statements for statements in self.lists}
        self._keys: dict[str, KeyStatements] = {key: self._key(place) for key, place in layout.state.properties.items()}

    def key(self, key: str) -> KeyStatements:
        """The statements of a top-level key."""
        return self._keys.get(key, _UNKNOWN)

    def _key(self, place: ColumnPlace) -> KeyStatements:
        columns = tuple(column.name for column in columns_in(place))
        lists = tuple(self._by_table[found.table] for found in lists_in(place))
        cells = ", ".join(f"{quoted(name)} = ?" for name in columns)
        update = f"update {quoted(self.layout.table)} set {cells} where {quoted(RUN)} = ?" if columns else None
        return KeyStatements(place, columns, update, lists)


_UNKNOWN = KeyStatements(None, (), None, ())


def _list_statements(place: List) -> ListStatements:
    columns = tuple(column.name for column in columns_in(place.item))
    table, keys = quoted(place.table), (RUN, *place.positions)
    values = ", ".join("?" * (len(keys) + len(columns)))
    return ListStatements(
        table=place.table,
        depth=len(place.positions),
        columns=columns,
        insert=f"insert into {table}({quoted_list((*keys, *columns))}) values({values})",
        delete=f"delete from {table} where {quoted(RUN)} = ?",
        select=f"select {quoted_list((*place.positions, *columns))} from {table} where {quoted(RUN)} = ?",
    )
