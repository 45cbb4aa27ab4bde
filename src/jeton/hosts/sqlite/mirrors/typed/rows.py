"""A value of the context as rows, and rows as the value they came from.

Every value leaves a trace: a cell, a row of its list, or a text beside the row. So a property without any trace was
missing, and nothing else needs to say so.
"""

from collections.abc import Mapping
from typing import TypeAlias

from msgspec import UNSET, UnsetType

from jeton.hosts.sqlite.mirrors.typed.cells import Cell, cell_of, json_text, json_value, value_of
from jeton.hosts.sqlite.mirrors.typed.layout import Column, List, Object, Place
from jeton.model.failure import BrokenInvariant
from jeton.model.json import Json, JsonObject

Cells: TypeAlias = dict[str, Cell]
"""By column; one that is not there is NULL."""
Positions: TypeAlias = tuple[int, ...]

_HOLE: Json = {}  # known by identity


class Rows:
    """What one or more top-level keys of one run are in the tables."""

    __slots__ = ("cells", "items", "rest")

    def __init__(self) -> None:
        self.cells: Cells = {}
        self.items: dict[str, list[tuple[Positions, Cells]]] = {}  # by table
        self.rest: list[tuple[str, str]] = []  # pointer, JSON


def split(key: str, place: Place | None, value: Json, rows: Rows) -> None:
    """Add one top-level key. Without a place, the schema does not know it."""
    _put(place, value, "/" + _escaped(key), rows, rows.cells, ())


def _put(place: Place | None, value: Json, at: str, rows: Rows, cells: Cells, positions: Positions) -> None:
    match place, value:
        case Column(), _:
            cell = cell_of(place, value)
            if cell is not None:
                cells[place.name] = cell
                return
        case Object(properties), dict() if value:
            for key, inner in value.items():
                _put(properties.get(key), inner, f"{at}/{_escaped(key)}", rows, cells, positions)
            return
        case List(), list() if value:
            table = rows.items.setdefault(place.table, [])
            for index, item in enumerate(value):
                below, own = (*positions, index), Cells()
                table.append((below, own))
                _put(place.item, item, f"{at}/{index}", rows, own, below)
            return
        case _:
            pass
    rows.rest.append((at, json_text(value)))


def rows_of(state: Object, context: Mapping[str, Json]) -> Rows:
    """A whole context."""
    rows = Rows()
    for key, value in context.items():
        split(key, state.properties.get(key), value, rows)
    return rows


def join(state: Object, rows: Rows) -> JsonObject:
    """The context that was split. Raises BrokenInvariant if these rows cannot have come from one."""
    return _Joining(rows).context(state)


class _Joining:
    """Rows being read. An item without a cell is a hole until the rest fills it."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._lists: dict[tuple[str, Positions], list[tuple[int, Cells]]] = {}
        self._holes: list[tuple[list[Json], int]] = []
        for table, items in rows.items.items():
            for positions, cells in items:
                self._lists.setdefault((table, positions[:-1]), []).append((positions[-1], cells))

    def context(self, state: Object) -> JsonObject:
        found = self._take(state, self._rows.cells, ())
        context: JsonObject = found if isinstance(found, dict) else {}
        for pointer, text in self._rows.rest:
            _lay(context, [_unescaped(key) for key in pointer.split("/")[1:]], json_value(text))
        if self._lists or any(items[index] is _HOLE for items, index in self._holes):
            raise BrokenInvariant("a row of a list is missing, or belongs to nothing")
        return context

    def _take(self, place: Place, cells: Cells, positions: Positions) -> Json | UnsetType:
        match place:
            case Column():
                cell = cells.get(place.name)
                return UNSET if cell is None else value_of(place, cell)
            case Object(properties):
                inner = {key: self._take(below, cells, positions) for key, below in properties.items()}
                found: JsonObject = {key: value for key, value in inner.items() if not isinstance(value, UnsetType)}
                return found or UNSET
            case List():
                return self._take_list(place, positions)

    def _take_list(self, place: List, positions: Positions) -> Json | UnsetType:
        rows = sorted(self._lists.pop((place.table, positions), ()), key=lambda row: row[0])
        if [index for index, _ in rows] != list(range(len(rows))):
            raise BrokenInvariant("a list has a gap", table=place.table)
        found = [self._take(place.item, cells, (*positions, index)) for index, cells in rows]
        items: list[Json] = [_HOLE if isinstance(item, UnsetType) else item for item in found]
        self._holes += ((items, index) for index, item in enumerate(items) if item is _HOLE)
        return items or UNSET


def _lay(context: JsonObject, keys: list[str], value: Json) -> None:
    """Put a value where its pointer says. Objects on the way may have nothing else in them; lists have their rows."""
    here: Json = context
    for depth, key in enumerate(keys):
        last = depth + 1 == len(keys)
        if isinstance(here, dict):
            here[key] = value if last else here.get(key, {})
            here = here[key]
        elif isinstance(here, list) and key.isdecimal() and int(key) < len(here):
            index = int(key)
            here[index] = value if last else {} if here[index] is _HOLE else here[index]
            here = here[index]
        else:
            raise BrokenInvariant("a value lies beside a row that is not there", path="/".join(keys))


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _unescaped(key: str) -> str:
    return key.replace("~1", "/").replace("~0", "~")
