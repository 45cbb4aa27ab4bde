"""The report of problems: a definition is read to its end, and all its problems are reported together."""

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
MOST_COMPARED = 500  # comparing is slow, and a file may have thousands of unknown names
MOST_PROBLEMS = 1000  # more would help nobody to repair a file
MOST_LISTED = 12

Severity = Literal["error", "warning"]


class Report:
    """Collects the problems found so far. `reads_files`: what is read may name other files, which are then read too."""

    def __init__(self, *, reads_files: bool = True) -> None:
        self.reads_files = reads_files
        self._problems: dict[Problem, None] = {}

    def error(self, location: SourceLocation, code: ProblemCode, problem: str, remedy: str) -> None:
        """Report a problem that prevents deployment."""
        self.add("error", location, code, problem, remedy)

    def warning(self, location: SourceLocation, code: ProblemCode, problem: str, remedy: str) -> None:
        """Report a probable mistake that does not prevent deployment."""
        self.add("warning", location, code, problem, remedy)

    def add(self, severity: Severity, location: SourceLocation, code: ProblemCode, problem: str, remedy: str) -> None:
        """Report an error or a warning."""
        if len(self._problems) < MOST_PROBLEMS:
            file, path = printable(location.file), path_text(location.path)
            found = Problem(severity, code, file, location.line, path, _short(problem), _short(remedy))
            self._problems.setdefault(found)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All problems by file and line, in the order found within a line."""
        return tuple(sorted(self._problems, key=lambda p: (p.file, p.line)))

    @property
    def error_count(self) -> int:
        """The number of errors so far. If reading something does not change it, that has no errors."""
        return sum(p.severity == "error" for p in self._problems)


def shown(value: Json) -> str:
    """A value as a message shows it."""
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
    """The text with control characters escaped, because a message quotes files that may not be trusted."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def _short(text: str) -> str:
    return printable(text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…")


def kind(value: Json) -> str:
    """A description of a value for messages: `a list`, `the number 3`."""
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
    """The known name most similar to this one, if any is similar."""
    if len(name) > LONGEST_COMPARED:
        return None
    alike = known if len(known) <= MOST_COMPARED else [each for each in known if abs(len(each) - len(name)) < 3]
    close = difflib.get_close_matches(name, list(alike)[:MOST_COMPARED], n=1, cutoff=0.6)
    return close[0] if close else None


def did_you_mean(name: str, known: Collection[str], otherwise: str) -> str:
    """A remedy for an unknown name: a similar known name, or the alternative."""
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
