"""The words of a text, for searching memories: the same for every store, whatever its own search can do."""

import re
import unicodedata
from collections.abc import Iterator

LONGEST_WORD = 64  # characters; a longer one is cut, in texts and queries alike

_ACCENTS = range(0x300, 0x370)  # combining, of Latin, Greek and Cyrillic letters
# Scripts written without spaces: Thai, Lao, Myanmar, Khmer, kana and Han. Pairs of characters stand for words there.
_UNSPACED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+)"
)


class _Characters(dict[int, int | str | None]):
    """What becomes of each character: letters, digits and marks stay, accents go, and the rest separates words."""

    def __missing__(self, code: int) -> int | str | None:
        character = chr(code)
        if code in _ACCENTS:
            found: int | str | None = None
        elif character.isalnum() or unicodedata.category(character).startswith("M"):
            found = code
        else:
            found = " "
        self[code] = found
        return found


_characters = _Characters()


def words_of(text: str) -> list[str]:
    """The words of a text in order, without case and accents. Punctuation and operators are no words."""
    plain = text.casefold()
    if not plain.isascii():
        plain = unicodedata.normalize("NFKD", plain).casefold()
    plain = plain.translate(_characters)
    if plain.isascii():
        return [word[:LONGEST_WORD] for word in plain.split()]
    return [part for word in unicodedata.normalize("NFC", plain).split() for part in _parts(word)]


def _parts(word: str) -> Iterator[str]:
    """The word itself, or, where it is of a script without spaces, each pair of neighbours in it."""
    for index, part in enumerate(_UNSPACED.split(word)):
        if index % 2 == 0:
            if part:
                yield part[:LONGEST_WORD]
        elif len(part) == 1:
            yield part
        else:
            yield from (part[at : at + 2] for at in range(len(part) - 1))
