"""A layout as `create table` statements."""

from collections.abc import Iterator, Sequence

from jeton.actor.typed.layout import RUN, Column, ColumnPlace, Layout, List, columns_in
from jeton.actor.typed.names import literal, quoted, quoted_list
from jeton.actor.typed.shape import Kind

# `any` keeps 1 and 1.0 apart, which `real` does not.
_TYPES: dict[Kind, str] = {"text": "text", "integer": "integer", "number": "any", "boolean": "integer", "json": "text"}


def create_statements(layout: Layout) -> Iterator[str]:
    """Every table of a layout, parents first."""
    run = f"{quoted(RUN)} text primary key not null"
    yield _table(layout.table, (run, *_columns(layout.state)), "strict")
    yield from _list_tables(layout.state, layout.table, ())
    yield _rest_table(layout)
    yield _branch_table(layout)


def _list_tables(place: ColumnPlace, parent: str, around: tuple[str, ...]) -> Iterator[str]:
    match place:
        case Column():
            pass
        case List():
            yield _list_table(place, parent, around)
            yield from _list_tables(place.item, place.table, place.positions)
        case _:
            for inner in place.properties.values():
                yield from _list_tables(inner, parent, around)


def _list_table(place: List, parent: str, around: tuple[str, ...]) -> str:
    keys = f"{quoted(RUN)} text not null", *(f"{quoted(name)} integer not null" for name in place.positions)
    primary = f"primary key({quoted_list((RUN, *place.positions))})"
    outer = quoted_list((RUN, *around))
    belongs = f"foreign key({outer}) references {quoted(parent)}({outer}) on delete cascade"
    return _table(place.table, (*keys, *_columns(place.item), primary, belongs), "strict, without rowid")


def _rest_table(layout: Layout) -> str:
    """`key` is the top-level key that a value is below, `path` a JSON pointer to the value."""
    parts = (
        f"{quoted(RUN)} text not null references {quoted(layout.table)} on delete cascade",
        '"key" text not null',
        '"path" text not null',
        '"value" text not null',
        f'primary key({quoted(RUN)}, "key", "path")',
    )
    return _table(layout.rest, parts, "strict, without rowid")


def _branch_table(layout: Layout) -> str:
    parts = (
        f"{quoted(RUN)} text not null references {quoted(layout.table)} on delete cascade",
        '"group_id" integer not null',
        '"branch_index" integer not null',
        """"status" text not null check("status" in ('live', 'arrived'))""",
        '"output" text',
        f'primary key({quoted(RUN)}, "group_id", "branch_index")',
    )
    return _table(layout.branches, parts, "strict, without rowid")


def _table(name: str, parts: Sequence[str], options: str) -> str:
    return f"create table {quoted(name)}(\n    " + ",\n    ".join(parts) + f"\n) {options}"


def _columns(place: ColumnPlace) -> Iterator[str]:
    for column in columns_in(place):
        checks = " and ".join(_checks(column))
        yield f"{quoted(column.name)} {_TYPES[column.kind]}" + (f" check({checks})" if checks else "")


def _checks(column: Column) -> Iterator[str]:
    """The rules of `cells.cell_of` in SQL. A null passes them all."""
    name, limits = quoted(column.name), column.limits
    if column.kind == "number":
        yield f"typeof({name}) in ('integer', 'real', 'null')"
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
