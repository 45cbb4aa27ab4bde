"""Python values into plain data: checked like a file, and copied."""

from typing import cast

from jeton.definitions.read.location import NOWHERE, Path, SourceLocation
from jeton.definitions.report import Report, shown
from jeton.definitions.text.plain import Document, Stopped, check_scalar, stop_if_too_deep, stop_if_too_many
from jeton.model.json import Json, JsonObject


def read_python(value: object, file: str, report: Report) -> Document | None:
    """The value as plain data; None if it is too deep, too large or contains itself."""
    try:
        return Document(_Copier(file, report).copy(value, ()), NOWHERE)
    except Stopped:
        return None


class _Copier:
    """Copies values, so that later changes by the caller have no effect."""

    def __init__(self, file: str, report: Report) -> None:
        self._file = file
        self._report = report
        self._nodes = 0

    def copy(self, value: object, path: Path) -> Json:
        location = SourceLocation(self._file, NOWHERE, path)
        self._nodes += 1
        stop_if_too_many(self._nodes, location, self._report)
        match value:
            case None | bool() | int() | float() | str():
                return check_scalar(value, location, self._report)
            case dict():
                stop_if_too_deep(len(path) + 1, location, self._report)
                return self._object(cast("dict[object, object]", value), path, location)
            case list() | tuple():
                stop_if_too_deep(len(path) + 1, location, self._report)
                items = cast("list[object] | tuple[object, ...]", value)
                return [self.copy(item, (*path, index)) for index, item in enumerate(items)]
            case _:
                problem = f"is a Python {type(value).__name__}, and definitions are plain data"
                remedy = "write text, numbers, true, false, null, lists and objects only"
                self._report.error(location, "not_plain_data", problem, remedy)
                return None

    def _object(self, value: dict[object, object], path: Path, location: SourceLocation) -> JsonObject:
        found: JsonObject = {}
        for key, item in value.items():
            if not isinstance(key, str):
                problem = f"a key is a Python {type(key).__name__}, {shown(repr(key))}, and keys are text"
                self._report.error(location, "key_not_text", problem, "write the key as text")
            elif check_scalar(key, location, self._report) is not None:
                found[key] = self.copy(item, (*path, key))
        return found
