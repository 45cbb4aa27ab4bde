"""JSON into plain data with lines.

A reader of our own, because the standard library keeps no positions and accepts duplicate keys and NaN, and a YAML
reader accepts what is not JSON and fails on surrogate pairs.
"""

import json
import re

from jeton.definitions.read.location import Key, Mark, Path, SourceLocation
from jeton.definitions.report import Report, shown
from jeton.definitions.text import plain
from jeton.model.json import Json

SPACE = re.compile(r"[ \t\n\r]*")
TEXT = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][-+]?[0-9]+)?")
WORD = re.compile(r"-?[A-Za-z_]+")
WORDS: dict[str, Json] = {"true": True, "false": False, "null": None}
NOT_FINITE = frozenset(("NaN", "Infinity", "-Infinity"))


def read_json(text: str, file: str, report: Report) -> plain.Document | None:
    """Read a JSON file. Returns None if it is not valid JSON, which is reported."""
    reader = _Reader(text, file, report)
    try:
        return reader.document()
    except plain.Stopped:
        return None


class _Reader:
    """A recursive descent parser. The depth limit keeps it below Python's recursion limit."""

    def __init__(self, text: str, file: str, report: Report) -> None:
        self._text = text
        self._file = file
        self._report = report
        self._at = 0
        self._line = 1
        self._nodes = 0

    def document(self) -> plain.Document:
        self._skip_space()
        value, mark = self._value(())
        self._skip_space()
        if self._at < len(self._text):
            raise self._syntax((), "goes on after its end", "a JSON file holds one value")
        return plain.Document(value, mark)

    def _skip_space(self) -> None:
        match = SPACE.match(self._text, self._at)
        end = match.end() if match else self._at
        self._line += self._text.count("\n", self._at, end)
        self._at = end

    def _location(self, path: Path) -> SourceLocation:
        return plain.unread_location(self._file, self._line, path)

    def _syntax(self, path: Path, problem: str, remedy: str) -> plain.Stopped:
        self._report.error(self._location(path), "syntax", problem, remedy)
        return plain.Stopped()

    def _value(self, path: Path) -> tuple[Json, Mark]:
        self._nodes += 1
        plain.stop_if_too_many(self._nodes, self._location(path), self._report)
        match self._text[self._at : self._at + 1]:
            case "{":
                return self._object(path)
            case "[":
                return self._list(path)
            case '"':
                return self._scalar(self._string(path), path)
            case "":
                raise self._syntax(path, "ends where a value should stand", "write a value, or close what is open")
            case _:
                return self._scalar(self._number_or_word(path), path)

    def _scalar(self, value: Json, path: Path) -> tuple[Json, Mark]:
        return plain.check_scalar(value, self._location(path), self._report), Mark(self._line)

    def _string(self, path: Path) -> str:
        match = TEXT.match(self._text, self._at)
        if match is None:
            remedy = "close it with a quote, and write line breaks as \\n and backslashes as \\\\"
            raise self._syntax(path, "a text is not closed, or holds a character JSON does not allow", remedy)
        self._at = match.end()
        decoded: str = json.loads(match[0])
        return decoded

    def _number_or_word(self, path: Path) -> Json:
        number = NUMBER.match(self._text, self._at)
        if number is not None:
            self._at = number.end()
            if number[2] or number[3]:
                return float(number[0])
            return plain.integer(number[1], 10, self._location(path), self._report)
        word = WORD.match(self._text, self._at)
        if word is not None and word[0] in WORDS:
            self._at = word.end()
            return WORDS[word[0]]
        if word is not None and word[0] in NOT_FINITE:
            self._at = word.end()
            return float(word[0])
        found = word[0] if word else self._text[self._at]
        remedy = "write no comma after the last value" if found in "]}" else "put text in double quotes"
        raise self._syntax(path, f"{shown(found)} is no JSON value", remedy)

    def _object(self, path: Path) -> tuple[Json, Mark]:
        plain.stop_if_too_deep(len(path) + 1, self._location(path), self._report)
        line, found, inside = self._line, dict[str, Json](), dict[Key, Mark]()
        self._open()
        while not self._closes("}", path, first=not inside):
            if self._text[self._at : self._at + 1] != '"':
                raise self._syntax(
                    path, "a key should stand here", "write keys in double quotes, no comma after the last"
                )
            key_line, key = self._line, self._string(path)
            key = str(plain.check_scalar(key, self._location(path), self._report) or "")
            self._skip_space()
            if self._text[self._at : self._at + 1] != ":":
                raise self._syntax((*path, key), f"no ':' after the key {shown(key)}", "write a ':'")
            self._open()
            value, mark = self._value((*path, key))
            if key in inside:
                self._report_duplicate((*path, key), key_line, inside[key].line)
            else:
                found[key], inside[key] = value, Mark(key_line, mark.inside)
        return found, Mark(line, inside)

    def _list(self, path: Path) -> tuple[Json, Mark]:
        plain.stop_if_too_deep(len(path) + 1, self._location(path), self._report)
        line, found, inside = self._line, list[Json](), dict[Key, Mark]()
        self._open()
        while not self._closes("]", path, first=not found):
            value, mark = self._value((*path, len(found)))
            inside[len(found)] = mark
            found.append(value)
        return found, Mark(line, inside)

    def _open(self) -> None:
        self._at += 1
        self._skip_space()

    def _closes(self, bracket: str, path: Path, first: bool) -> bool:
        """Whether the list or object ends here; if not, the comma is consumed."""
        self._skip_space()
        character = self._text[self._at : self._at + 1]
        if character == bracket:
            self._at += 1
            return True
        if first and character:
            return False
        if character != ",":
            expected = f"neither ',' nor '{bracket}' stands here"
            raise self._syntax(path, expected, f"separate values by ',' and close with '{bracket}'")
        self._open()
        return False

    def _report_duplicate(self, path: Path, line: int, first: int) -> None:
        problem = f"the key {shown(str(path[-1]))} is duplicated; the first is on line {first}"
        location = plain.unread_location(self._file, line, path)
        self._report.error(location, "duplicate_key", problem, "remove one of the two, or give it another name")
