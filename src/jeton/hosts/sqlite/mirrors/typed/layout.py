"""Where each place of a state schema is kept: which table, which column, under which name.

A layout is stored with the tables it describes and read back from there, so that names stay what they were when the
tables were made, whatever a later version of this module would call them.
"""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

import msgspec

from jeton.hosts.sqlite.mirrors.typed.names import Names
from jeton.hosts.sqlite.mirrors.typed.shape import Items, Kind, Limits, Properties, Scalar, Shape, shape_of_state
from jeton.model.json import Schema

MOST_COLUMNS = 500  # in one table; SQLite's own limit is 2000
MOST_LISTS = 100  # in one layout
MOST_LEVELS = 12  # of lists in each other

RUN = "run_id"
VALUE = "value"  # of an item that is no object


class Column(msgspec.Struct, frozen=True, tag="column"):
    """A scalar, or JSON."""

    name: str
    kind: Kind
    limits: Limits


class Object(msgspec.Struct, frozen=True, tag="object"):
    """Flattened: its properties are places of the row it is in."""

    properties: "dict[str, Place]"


class List(msgspec.Struct, frozen=True, tag="list"):
    """A table of its own, keyed by run and position; one position more for each list around it."""

    table: str
    positions: tuple[str, ...]
    item: "Place"


Place: TypeAlias = Column | Object | List


class Layout(msgspec.Struct, frozen=True):
    """One version of one workflow: the table of its runs, and those of its lists, of the rest and of its branches."""

    workflow: str
    version: int
    table: str
    rest: str
    branches: str
    state: Object


def plan_layout(workflow: str, version: int, schema: Schema, taken: Iterable[str] = ()) -> Layout:
    """Tables for a state schema. `taken` are the names other tables have; none of them is given again."""
    tables = Names(taken)
    table = tables.allot("state", workflow, f"v{version}")
    branches = tables.allot("branch", workflow, f"v{version}")
    rest = tables.allot(table, "rest")
    planner = _Planner(tables)
    item = planner.place_items(table, shape_of_state(schema), ())
    state = item if isinstance(item, Object) else Object({})
    return Layout(workflow, version, table, rest, branches, state)


def columns_in(place: Place) -> Iterator[Column]:
    """The columns of the row a place is in; those of lists are in rows of their own."""
    match place:
        case Column():
            yield place
        case Object():
            for inner in place.properties.values():
                yield from columns_in(inner)
        case List():
            pass


def lists_in(place: Place) -> Iterator[List]:
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
    """Gives out names: nearer places first, so that a plain property keeps its own."""

    def __init__(self, tables: Names) -> None:
        self._tables = tables
        self._lists = 0

    def place_items(self, table: str, shape: Shape, positions: tuple[str, ...]) -> Place | None:
        """The places of one table's rows."""
        columns = Names((RUN, *positions))
        named: dict[_Path, str] = {}
        for path, leaf in sorted(_leaves(shape, ()), key=lambda found: len(found[0])):
            if isinstance(leaf, Scalar):
                if len(named) < MOST_COLUMNS:
                    named[path] = columns.allot(*(path or (VALUE,)))
            elif self._lists < MOST_LISTS:
                self._lists += 1
                named[path] = self._tables.allot(table, *(path or ("items",)))
        return self._placed(shape, (), named, positions)

    def _placed(self, shape: Shape, path: _Path, named: dict[_Path, str], positions: tuple[str, ...]) -> Place | None:
        """None: there are too many columns or tables, and what is here is kept with the rest."""
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
    """What is kept in a row itself, and the lists that are kept apart from it."""
    if isinstance(shape, Properties):
        for name, inner in shape.shapes.items():
            yield from _leaves(inner, (*path, name))
    else:
        yield path, shape
