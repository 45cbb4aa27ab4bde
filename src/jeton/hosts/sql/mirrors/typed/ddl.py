"""A layout as `create table` statements."""

from collections.abc import Iterator, Sequence

from jeton.actor.typed.layout import RUN, Column, ColumnPlace, Layout, List, columns_in
from jeton.actor.typed.names import literal, quoted, quoted_list
from jeton.hosts.sql.connection import Dialect


def create_statements(dialect: Dialect, layout: Layout) -> Iterator[str]:
    """Every table of a layout, parents first."""
    run = f"{quoted(RUN)} text primary key not null"
    yield _table(layout.table, (run, *_columns(dialect, layout.state)), dialect.table_options)
    yield from _list_tables(dialect, layout.state, layout.table, ())
    yield _rest_table(dialect, layout)
    yield _branch_table(dialect, layout)


def _list_tables(dialect: Dialect, place: ColumnPlace, parent: str, around: tuple[str, ...]) -> Iterator[str]:
    match place:
        case Column():
            pass
        case List():
            yield _list_table(dialect, place, parent, around)
            yield from _list_tables(dialect, place.item, place.table, place.positions)
        case _:
            for inner in place.properties.values():
                yield from _list_tables(dialect, inner, parent, around)


def _list_table(dialect: Dialect, place: List, parent: str, around: tuple[str, ...]) -> str:
    keys = f"{quoted(RUN)} text not null", *(f"{quoted(name)} integer not null" for name in place.positions)
    primary = f"primary key({quoted_list((RUN, *place.positions))})"
    outer = quoted_list((RUN, *around))
    belongs = f"foreign key({outer}) references {quoted(parent)}({outer}) on delete cascade"
    return _table(place.table, (*keys, *_columns(dialect, place.item), primary, belongs), dialect.keyed_table_options)


def _rest_table(dialect: Dialect, layout: Layout) -> str:
    """`key` is the top-level key that a value is below, `path` a JSON pointer to the value."""
    parts = (
        f"{quoted(RUN)} text not null references {quoted(layout.table)} on delete cascade",
        '"key" text not null',
        '"path" text not null',
        '"value" text not null',
        f'primary key({quoted(RUN)}, "key", "path")',
    )
    return _table(layout.rest, parts, dialect.keyed_table_options)


def _branch_table(dialect: Dialect, layout: Layout) -> str:
    parts = (
        f"{quoted(RUN)} text not null references {quoted(layout.table)} on delete cascade",
        '"group_id" integer not null',
        '"branch_index" integer not null',
        """"status" text not null check("status" in ('live', 'arrived'))""",
        '"output" text',
        f'primary key({quoted(RUN)}, "group_id", "branch_index")',
    )
    return _table(layout.branches, parts, dialect.keyed_table_options)


def _table(name: str, parts: Sequence[str], options: str) -> str:
    return f"create table {quoted(name)}(\n    " + ",\n    ".join(parts) + f"\n) {options}"


def _columns(dialect: Dialect, place: ColumnPlace) -> Iterator[str]:
    for column in columns_in(place):
        checks = " and ".join(_checks(dialect, column))
        yield f"{quoted(column.name)} {dialect.column_type(column.kind)}" + (f" check({checks})" if checks else "")


def _checks(dialect: Dialect, column: Column) -> Iterator[str]:
    """The rules of `cells.cell_of` in SQL. A null passes them all."""
    name, limits = quoted(column.name), column.limits
    number = dialect.number_check(name) if column.kind == "number" else None
    if number is not None:
        yield number
    if limits.choices:
        yield f"{name} in ({', '.join(literal(choice) for choice in limits.choices)})"
    elif column.kind == "boolean":
        yield f"{name} in (0, 1)"
    for operator, bound in (
        (">=", limits.minimum),
        ("<=", limits.maximum),
        (">", limits.above),
        ("<", limits.below),
    ):
        if bound is not None:
            yield f"{name} {operator} {literal(bound)}"
    if limits.min_length is not None:
        yield f"length({name}) >= {limits.min_length}"
    if limits.max_length is not None:
        yield f"length({name}) <= {limits.max_length}"
