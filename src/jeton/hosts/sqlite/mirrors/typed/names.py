"""Names for tables and columns: readable, quoted wherever they are used, and never two alike."""

import hashlib
from collections.abc import Iterable
from string import ascii_lowercase, ascii_uppercase

LONGEST_NAME = 60

_FOLDED = str.maketrans(ascii_uppercase, ascii_lowercase)  # SQLite's own rule: these letters are alike, and no others


def quoted(name: str) -> str:
    """An identifier as SQL writes it; nothing in a quoted name means anything."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: str | int | float) -> str:
    """A value as SQL writes it. SQLite reads a number back to the same bits, which a test makes sure of."""
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


class Names:
    """The names of one table's columns, or of a store's tables. Whoever asks first gets the name as it is."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = {_folded(name) for name in taken}

    def allot(self, *words: str) -> str:
        """The words joined by `_`; if that is taken, with a number behind it."""
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
    """Without what would end a statement (NUL), cannot be stored (half a surrogate pair) or cannot be seen."""
    return "".join(character if character.isprintable() else "_" for character in name)


def _bounded(name: str) -> str:
    """Short enough to be typed. The digest is over the whole, so that long names alike at the front stay apart."""
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[: LONGEST_NAME - 9]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"
