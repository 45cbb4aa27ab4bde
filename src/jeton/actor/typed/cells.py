"""Values as cells of a column, and back. A value that a column cannot hold exactly is not stored in it."""

from math import isfinite
from typing import TypeAlias

import msgspec

from jeton.actor.typed.layout import Column
from jeton.actor.typed.shape import LARGEST_INTEGER, SMALLEST_INTEGER, ColumnLimits
from jeton.model.json import Json

# SQLite rewrites a whole row for one changed column, so long values are stored in the rest table.
LONGEST_CELL = 4_000

Cell: TypeAlias = str | int | float

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


def json_text(value: Json) -> str:
    """A value as JSON. A NUL is escaped in it, so SQLite sees all of the text."""
    return _encode(value).decode()


def json_value(text: str) -> Json:
    """The value of a JSON text."""
    value: Json = _decode(text)
    return value


def cell_of(column: Column, value: Json) -> Cell | None:
    """The cell of a value; None if the column cannot hold it."""
    match column.kind:
        case "text":
            return value if type(value) is str and _is_text(value, column.limits) else None
        case "integer":
            return value if type(value) is int and _is_number(value, column.limits) else None
        case "number":
            if isinstance(value, bool) or not isinstance(value, int | float):
                return None
            return value if _is_number(value, column.limits) else None
        case "boolean":
            chosen = column.limits.choices
            return int(value) if type(value) is bool and (chosen is None or value in chosen) else None
        case "json":
            text = json_text(value)
            return text if len(text) <= LONGEST_CELL else None


def value_of(column: Column, cell: Cell) -> Json:
    """The value of a cell that `cell_of` made."""
    match column.kind:
        case "boolean":
            return bool(cell)
        case "json":
            return json_value(str(cell))
        case "text" | "integer" | "number":
            return cell


def _is_text(value: str, limits: ColumnLimits) -> bool:
    if len(value) > LONGEST_CELL or "\0" in value:  # SQLite's length() would stop at the NUL
        return False
    return (
        (limits.choices is None or value in limits.choices)
        and (limits.min_length is None or len(value) >= limits.min_length)
        and (limits.max_length is None or len(value) <= limits.max_length)
    )


def _is_number(value: int | float, limits: ColumnLimits) -> bool:
    """Infinity and NaN do not fit, because JSON has neither."""
    if not (SMALLEST_INTEGER <= value <= LARGEST_INTEGER if isinstance(value, int) else isfinite(value)):
        return False
    return (
        (limits.choices is None or value in limits.choices)
        and (limits.minimum is None or value >= limits.minimum)
        and (limits.maximum is None or value <= limits.maximum)
        and (limits.above is None or value > limits.above)
        and (limits.below is None or value < limits.below)
    )
