"""The layout of a state schema: the table and the column of every place in it.

A layout is stored with the tables it describes, so that their names stay the same whatever names a later version of
this module would choose.
"""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

import msgspec

from jeton.actor.typed.names import Names
from jeton.actor.typed.shape import ColumnLimits, Items, Kind, Properties, Scalar, Shape, shape_of_state
from jeton.model.json import Schema

MOST_COLUMNS = 500  # in one table; SQLite's own limit is 2000
MOST_LISTS = 100  # in one layout
MOST_LEVELS = 12  # of nested lists

RUN = "run_id"
VALUE = "value"  # the column of an item that is no object


class Column(msgspec.Struct, frozen=True, tag="column"):
    """A scalar, or JSON."""

    name: str
    kind: Kind
    limits: ColumnLimits


class Object(msgspec.Struct, frozen=True, tag="object"):
    """An object. Its properties are places of the row it is in."""

    properties: "dict[str, ColumnPlace]"


class List(msgspec.Struct, frozen=True, tag="list"):
    """A table of items, keyed by run and position, with one more position for each list around it."""

    table: str
    positions: tuple[str, ...]
    item: "ColumnPlace"


ColumnPlace: TypeAlias = Column | Object | List


class Layout(msgspec.Struct, frozen=True):
    """The tables of one version of one workflow: of its runs, its lists, the rest and its branches."""

    workflow: str
    version: int
    table: str
    rest: str
    branches: str
    state: Object


def plan_layout(workflow: str, version: int, schema: Schema, taken: Iterable[str] = ()) -> Layout:
    """The layout of a state schema. `taken` are the names of other tables."""
    tables = Names(taken)
    table = tables.allocate("state", workflow, f"v{version}")
    branches = tables.allocate("branch", workflow, f"v{version}")
    rest = tables.allocate(table, "rest")
    planner = _Planner(tables)
    item = planner.place_items(table, shape_of_state(schema), ())
    state = item if isinstance(item, Object) else Object({})
    return Layout(workflow, version, table, rest, branches, state)


def columns_in(place: ColumnPlace) -> Iterator[Column]:
    """The columns at and below a place, without those of lists, which have rows of their own."""
    match place:
        case Column():
            yield place
        case Object():
            for inner in place.properties.values():
                yield from columns_in(inner)
        case List():
            pass


def lists_in(place: ColumnPlace) -> Iterator[List]:
    """The lists at and below a place, outer before inner."""
    match place:
        case Column():
            pass
        case Object():
            for inner in place.properties.values():
                yield from lists_in(inner)
        case List():
            yield place
            yield from lists_in(place.item)


_Path: TypeAlias = tuple[str, ...]


class _Planner:
    """Chooses names: shorter paths first, so that a top-level property keeps its own."""

    def __init__(self, tables: Names) -> None:
        self._tables = tables
        self._lists = 0

    def place_items(self, table: str, shape: Shape, positions: tuple[str, ...]) -> ColumnPlace | None:
        """The places of one table's rows."""
        columns = Names((RUN, *positions))
        named: dict[_Path, str] = {}
        for path, leaf in sorted(_leaves(shape, ()), key=lambda found: len(found[0])):
            if isinstance(leaf, Scalar):
                if len(named) < MOST_COLUMNS:
                    named[path] = columns.allocate(*(path or (VALUE,)))
            elif self._lists < MOST_LISTS:
                self._lists += 1
                named[path] = self._tables.allocate(table, *(path or ("items",)))
        return self._placed(shape, (), named, positions)

    def _placed(
        self, shape: Shape, path: _Path, named: dict[_Path, str], positions: tuple[str, ...]
    ) -> ColumnPlace | None:
        """The place of a shape; None if there are too many columns or tables, and the value goes to the rest table."""
        match shape:
            case Scalar(kind, limits):
                return Column(named[path], kind, limits) if path in named else None
            case Properties(shapes):
                places = {name: self._placed(inner, (*path, name), named, positions) for name, inner in shapes.items()}
                return Object({name: place for name, place in places.items() if place is not None})
            case Items(inner):
                if path not in named or len(positions) >= MOST_LEVELS:
                    return None
                below = (*positions, f"position_{len(positions) + 1}" if positions else "position")
                item = self.place_items(named[path], inner, below)
                return None if item is None else List(named[path], below, item)


def _leaves(shape: Shape, path: _Path) -> Iterator[tuple[_Path, Scalar | Items]]:
    """The columns of a row, and the lists that have tables of their own."""
    if isinstance(shape, Properties):
        for name, inner in shape.shapes.items():
            yield from _leaves(inner, (*path, name))
    else:
        yield path, shape
