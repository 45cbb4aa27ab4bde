"""State as rows, and back.

Every value is in a cell, in a row of its list, or in the rest table. So a property that is in none of them was missing.
"""

from collections.abc import Mapping
from typing import TypeAlias

from msgspec import UNSET, UnsetType

from jeton.actor.pack import same_json
from jeton.actor.typed.cells import Cell, cell_of, json_text, json_value, value_of
from jeton.actor.typed.layout import Column, ColumnPlace, List, Object
from jeton.model.failure import BrokenInvariant
from jeton.model.json import Json, JsonObject

Cells: TypeAlias = dict[str, Cell]
"""By column; one that is not there is NULL."""
Positions: TypeAlias = tuple[int, ...]

_HOLE: Json = {}  # compared by identity


class Rows:
    """The rows of one or more top-level keys of one run."""

    __slots__ = ("cells", "items", "rest")

    def __init__(self) -> None:
        self.cells: Cells = {}
        self.items: dict[str, list[tuple[Positions, Cells]]] = {}  # by table
        self.rest: list[tuple[str, str]] = []  # pointer, JSON


def split(key: str, place: ColumnPlace | None, value: Json, rows: Rows) -> None:
    """Add the rows of one top-level key. Without a place it is not in the schema."""
    _put(place, value, "/" + _escaped(key), rows, rows.cells, ())


def _put(place: ColumnPlace | None, value: Json, at: str, rows: Rows, cells: Cells, positions: Positions) -> None:
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
    """The rows of a whole state."""
    rows = Rows()
    for key, value in context.items():
        split(key, state.properties.get(key), value, rows)
    return rows


def same_texts(one: Rows, other: Rows) -> bool:
    """Whether two sets of rows have the same texts, as written. Numbers are not compared."""
    ours, theirs = _texts(one), _texts(other)
    return ours.keys() == theirs.keys() and all(same_json(text, theirs[at]) for at, text in ours.items())


def _texts(rows: Rows) -> dict[tuple[str, ...], bytes]:
    found: dict[tuple[str, ...], bytes] = {}
    found |= {("", name): cell.encode() for name, cell in rows.cells.items() if isinstance(cell, str)}
    for table, items in rows.items.items():
        for positions, cells in items:
            place = (table, *map(str, positions))
            found |= {(*place, name): cell.encode() for name, cell in cells.items() if isinstance(cell, str)}
    return found | {("rest", pointer): text.encode() for pointer, text in rows.rest}


def join(state: Object, rows: Rows) -> JsonObject:
    """The state of these rows. Raises BrokenInvariant if they do not fit together."""
    return _RowReader(rows).context(state)


class _RowReader:
    """Reads rows. An item without a cell is a hole until the rest table fills it."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._lists: dict[tuple[str, Positions], list[tuple[int, Cells]]] = {}
        self._holes: list[tuple[list[Json], int]] = []
        for table, items in rows.items.items():
            for positions, cells in items:
                self._lists.setdefault((table, positions[:-1]), []).append((positions[-1], cells))

    def context(self, state: Object) -> JsonObject:
        found = self._read(state, self._rows.cells, ())
        context: JsonObject = found if isinstance(found, dict) else {}
        for pointer, text in self._rows.rest:
            _put_at(context, [_unescaped(key) for key in pointer.split("/")[1:]], json_value(text))
        if self._lists or any(items[index] is _HOLE for items, index in self._holes):
            raise BrokenInvariant("a row of a list is missing, or belongs to nothing")
        return context

    def _read(self, place: ColumnPlace, cells: Cells, positions: Positions) -> Json | UnsetType:
        match place:
            case Column():
                cell = cells.get(place.name)
                return UNSET if cell is None else value_of(place, cell)
            case Object(properties):
                inner = {key: self._read(below, cells, positions) for key, below in properties.items()}
                found: JsonObject = {key: value for key, value in inner.items() if not isinstance(value, UnsetType)}
                return found or UNSET
            case List():
                return self._read_list(place, positions)

    def _read_list(self, place: List, positions: Positions) -> Json | UnsetType:
        rows = sorted(self._lists.pop((place.table, positions), ()), key=lambda row: row[0])
        if [index for index, _ in rows] != list(range(len(rows))):
            raise BrokenInvariant("a list has a gap", table=place.table)
        found = [self._read(place.item, cells, (*positions, index)) for index, cells in rows]
        items: list[Json] = [_HOLE if isinstance(item, UnsetType) else item for item in found]
        self._holes += ((items, index) for index, item in enumerate(items) if item is _HOLE)
        return items or UNSET


def _put_at(context: JsonObject, keys: list[str], value: Json) -> None:
    """Put a value at its path. Objects on the way are created; lists and their items have rows already."""
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
            raise BrokenInvariant("a value of the rest table is below a row that is not there", path="/".join(keys))


def top_key(pointer: str) -> str:
    """The top-level key that a path of the rest table is below."""
    return _unescaped(pointer.split("/", 2)[1])


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _unescaped(key: str) -> str:
    return key.replace("~1", "/").replace("~0", "~")
