"""Locations in definitions: file, line and path, for problems to name."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias

import msgspec

from jeton.model.json import Json

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")

Key: TypeAlias = str | int
Path: TypeAlias = tuple[Key, ...]

LONGEST_SHOWN_KEY = 64


class Mark(msgspec.Struct, frozen=True):
    """The line of a value, and the marks of its parts. Line 0: not read from a file."""

    line: int
    inside: Mapping[Key, "Mark"] = {}


NOWHERE = Mark(0)


class SourceLocation(msgspec.Struct, frozen=True):
    """A location in a file. One that the file does not have, such as a default, has the nearest line."""

    file: str
    mark: Mark
    path: Path = ()

    @property
    def line(self) -> int:
        return self.mark.line

    def __truediv__(self, key: Key) -> "SourceLocation":
        return SourceLocation(self.file, self.mark.inside.get(key, self.mark), (*self.path, key))

    def at(self, path: Path) -> "SourceLocation":
        """The location of a path below this one."""
        location = self
        for key in path:
            location = location / key
        return location


def path_text(path: Path) -> str:
    """The path as text: `workflows.panel.transitions[1].to`. A key that is not a name is quoted."""
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key}]"
        elif NAME.fullmatch(key):
            text += f".{key}"
        else:
            text += f"[{json.dumps(key[:LONGEST_SHOWN_KEY])}]"
    return text.removeprefix(".")


def parts_of(value: Json, path: Path = ()) -> Iterator[tuple[Path, Json]]:
    """The value and everything inside it, with the path of each."""
    yield path, value
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from parts_of(inner, (*path, key))
