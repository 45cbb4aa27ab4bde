"""Problems, collected: a definition is read to its end, and everything wrong with it is said at once."""

import difflib
from collections.abc import Collection
from typing import Literal

from jeton.definitions.read.location import SourceLocation, path_text
from jeton.model.codes import ProblemCode
from jeton.model.failure import Problem
from jeton.model.json import Json

LONGEST_SHOWN = 60
LONGEST_TEXT = 400
LONGEST_COMPARED = 100
MOST_COMPARED = 500  # comparing is slow, and a file may hold ten thousand names nobody knows
MOST_PROBLEMS = 1000  # a file with more is not being repaired line by line
MOST_LISTED = 12

Severity = Literal["error", "warning"]


class Report:
    """What is wrong with the definitions read so far. The one mutable thing in this package."""

    def __init__(self) -> None:
        self._problems: dict[Problem, None] = {}

    def error(self, location: SourceLocation, code: ProblemCode, problem: str, remedy: str) -> None:
        """Something that stops deployment."""
        self.add("error", location, code, problem, remedy)

    def warning(self, location: SourceLocation, code: ProblemCode, problem: str, remedy: str) -> None:
        """Something that is probably not meant, and runs all the same."""
        self.add("warning", location, code, problem, remedy)

    def add(self, severity: Severity, location: SourceLocation, code: ProblemCode, problem: str, remedy: str) -> None:
        """Either, for rules whose severity depends on what they find."""
        if len(self._problems) < MOST_PROBLEMS:
            file, path = printable(location.file), path_text(location.path)
            found = Problem(severity, code, file, location.line, path, _short(problem), _short(remedy))
            self._problems.setdefault(found)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """By file and line; what was found first comes first on its line."""
        return tuple(sorted(self._problems, key=lambda p: (p.file, p.line)))

    @property
    def error_count(self) -> int:
        """How many errors there are so far: the same before and after reading something means it was sound."""
        return sum(p.severity == "error" for p in self._problems)


def shown(value: Json) -> str:
    """A value as a message quotes it."""
    match value:
        case str():
            text = value if len(value) <= LONGEST_SHOWN else value[: LONGEST_SHOWN - 1] + "…"
            return f"'{printable(text)}'"
        case bool():
            return "true" if value else "false"
        case None:
            return "null"
        case int() | float():
            return str(value)
        case list():
            return "a list"
        case dict():
            return "an object"


def printable(text: str) -> str:
    """Text with nothing in it that a terminal would act on: much of a message is quoted from a stranger's file."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def _short(text: str) -> str:
    return printable(text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…")


def kind(value: Json) -> str:
    """What sort of thing stands there, in the words an author uses."""
    match value:
        case bool():
            return f"{shown(value)}"
        case None:
            return "empty"
        case int() | float():
            return f"the number {value}"
        case "":
            return "an empty text"
        case str():
            return f"the text {shown(value)}"
        case list():
            return "a list"
        case dict():
            return "an object"


def closest(name: str, known: Collection[str]) -> str | None:
    """The known name that was probably meant."""
    if len(name) > LONGEST_COMPARED:
        return None
    alike = known if len(known) <= MOST_COMPARED else [each for each in known if abs(len(each) - len(name)) < 3]
    close = difflib.get_close_matches(name, list(alike)[:MOST_COMPARED], n=1, cutoff=0.6)
    return close[0] if close else None


def did_you_mean(name: str, known: Collection[str], otherwise: str) -> str:
    """A remedy for a name nobody knows: the nearest one, with what else could be done."""
    meant = closest(name, known)
    if meant is not None:
        return f"write '{meant}', or {otherwise}"
    if known and len(known) <= MOST_LISTED:
        return f"write one of {listed(known)}, or {otherwise}"
    return otherwise


def listed(names: Collection[str]) -> str:
    """`'a', 'b' and 'c'`."""
    quoted = [shown(name) for name in names]
    return " and ".join((", ".join(quoted[:-1]), quoted[-1])) if len(quoted) > 1 else "".join(quoted)
