"""Names for tables and columns: readable, and unique in databases that ignore case."""

import hashlib
from collections.abc import Iterable
from string import ascii_lowercase, ascii_uppercase

LONGEST_NAME = 60

_FOLDED = str.maketrans(ascii_uppercase, ascii_lowercase)  # SQLite ignores the case of these letters, and of no others


def quoted(name: str) -> str:
    """An identifier in SQL."""
    return '"' + name.replace('"', '""') + '"'


def quoted_list(names: Iterable[str]) -> str:
    """Identifiers in SQL, separated by commas."""
    return ", ".join(map(quoted, names))


def literal(value: str | int | float) -> str:
    """A value in SQL. SQLite reads a number back to the same bits."""
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


class Names:
    """The names of one table's columns, or of a store's tables."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = {_folded(name) for name in taken}

    def allocate(self, *words: str) -> str:
        """A new name: the words joined by `_`, with a number if that is taken."""
        wanted = _bounded(_plain("_".join(words)) or "_")
        name, number = wanted, 1
        while _folded(name) in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._taken.add(_folded(name))
        return name


def _folded(name: str) -> str:
    return name.translate(_FOLDED)


def _plain(name: str) -> str:
    """Replace what is not printable, such as NUL, which would end a statement, or half a surrogate pair."""
    return "".join(character if character.isprintable() else "_" for character in name)


def _bounded(name: str) -> str:
    """Cut a long name, with a digest of the whole, so that names with the same beginning stay different."""
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[: LONGEST_NAME - 9]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"
