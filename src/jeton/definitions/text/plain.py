"""Limits of plain data, for files and Python values alike: JSON that every later layer can store.

Otherwise a database, a decoder or a stack would fail later, far from the line that is wrong.
"""

import math

import msgspec

from jeton.definitions.read.location import Mark, Path, SourceLocation
from jeton.definitions.report import Report, shown
from jeton.model.json import Json

MAX_FILE_BYTES = 10_000_000
MAX_DEPTH = 100
MAX_NODES = 300_000  # after aliases are expanded
MAX_ALIASES = 1_000
MOST_KEYS_SHOWN = 10

SMALLEST_INTEGER, LARGEST_INTEGER = -(2**63), 2**63 - 1
MOST_DIGITS = 20  # more cannot fit, and Python refuses to convert thousands of digits


class Document(msgspec.Struct, frozen=True):
    """The data of a file, and the line of each value."""

    value: Json
    mark: Mark


class Stopped(Exception):
    """Reading cannot continue. The reason is in the report."""


def check_scalar(value: Json, location: SourceLocation, report: Report) -> Json:
    """The value; null if it cannot be stored, which is reported."""
    match value:
        case bool():
            return value
        case int() if not SMALLEST_INTEGER <= value <= LARGEST_INTEGER:
            problem = f"the number {_digits(value)} does not fit 64 bits"
            report.error(location, "number_too_large", problem, "write it as text, in quotes")
        case float() if not math.isfinite(value):
            problem = f"{value} is not a JSON number"
            report.error(location, "number_not_finite", problem, "write a finite number, or null")
        case str() if "\0" in value:
            report.error(location, "text_refused", f"{shown(value)} holds a NUL character", "leave the character out")
        case str() if not _is_unicode(value):
            problem = f"{shown(value)} has an unpaired surrogate, which is not a character"
            report.error(location, "text_refused", problem, "write the character itself, or both halves")
        case _:
            return value
    return None


def _digits(value: int) -> str:
    return f"with {value.bit_length()} bits" if value.bit_length() > 200 else str(value)


def _is_unicode(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def integer(digits: str, base: int, location: SourceLocation, report: Report) -> int | None:
    """An integer from text. One with too many digits is refused before it is converted."""
    if len(digits.lstrip("+-0")) > (MOST_DIGITS if base == 10 else 64):
        problem = f"a number of {len(digits)} digits does not fit 64 bits"
        report.error(location, "number_too_large", problem, "write it as text, in quotes")
        return None
    return int(digits, base)


def stop_if_too_deep(depth: int, location: SourceLocation, report: Report) -> None:
    """Stop at a nesting depth that could overflow the stack later; definitions need about a dozen levels."""
    if depth > MAX_DEPTH:
        problem = f"is nested more than {MAX_DEPTH} levels deep"
        location = SourceLocation(location.file, location.mark, location.path[:MOST_KEYS_SHOWN])
        report.error(location, "too_deep", problem, "split it, or name its parts and refer to them")
        raise Stopped


def stop_if_too_many(nodes: int, location: SourceLocation, report: Report) -> None:
    """Stop at too many values. Aliases count expanded: a few hundred bytes can expand to billions of values."""
    if nodes > MAX_NODES:
        problem = f"holds more than {MAX_NODES} values, aliases expanded"
        report.error(location, "too_many_values", problem, "split the file, and write fewer aliases")
        raise Stopped


def unread_location(file: str, line: int, path: Path) -> SourceLocation:
    """A location inside a file that is still being read."""
    return SourceLocation(file, Mark(line), path)
