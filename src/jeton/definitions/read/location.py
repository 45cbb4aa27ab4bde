"""Where something stands in a definition: file, line and path, so that every problem can point at it."""

import json
import re
from collections.abc import Mapping
from typing import TypeAlias

import msgspec

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")

Key: TypeAlias = str | int
Path: TypeAlias = tuple[Key, ...]

LONGEST_SHOWN_KEY = 64


class Mark(msgspec.Struct, frozen=True):
    """The line a value was written on, and the marks of what is inside it. Line 0: it was not read from a file."""

    line: int
    inside: Mapping[Key, "Mark"] = {}


NOWHERE = Mark(0)


class SourceLocation(msgspec.Struct, frozen=True):
    """One place in one file. Going deeper than the file does (sugar, defaults) keeps the nearest line."""

    file: str
    mark: Mark
    path: Path = ()

    @property
    def line(self) -> int:
        return self.mark.line

    def __truediv__(self, key: Key) -> "SourceLocation":
        return SourceLocation(self.file, self.mark.inside.get(key, self.mark), (*self.path, key))

    def at(self, path: Path) -> "SourceLocation":
        """The place that many keys further in."""
        location = self
        for key in path:
            location = location / key
        return location


def path_text(path: Path) -> str:
    """`workflows.panel.transitions[1].to`; a key that is no name is quoted, so that it cannot be mistaken for two."""
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key}]"
        elif NAME.fullmatch(key):
            text += f".{key}"
        else:
            text += f"[{json.dumps(key[:LONGEST_SHOWN_KEY])}]"
    return text.removeprefix(".")
