"""References to definitions: `panel` is the newest version of a definition, `panel@3` its third."""

import re
from typing import NamedTuple

from jeton.model.failure import Refused

_VERSION = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)  # fits 64 bits


class Reference(NamedTuple):
    """A definition's name, and its version if one is given."""

    name: str
    version: int | None = None

    def __str__(self) -> str:
        return self.name if self.version is None else f"{self.name}@{self.version}"


def parse_reference(text: str) -> Reference:
    """Read `name` or `name@version`. Raises Refused if what follows the `@` is no version; a name is not checked."""
    name, at, version = text.partition("@")
    if not at:
        return Reference(name)
    if not _VERSION.fullmatch(version):
        raise Refused("bad_reference", f"'{text}' names no version", f"write '{name}' or '{name}@3'")
    return Reference(name, int(version))


def name_of(text: str) -> str:
    """The name in a reference that is known to be valid."""
    return text.partition("@")[0]
