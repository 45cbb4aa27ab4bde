"""A reader of one object in a definition: each key with its type.

Written by hand and not derived from the model, so that each problem has a remedy. Nothing here raises: a problem is
reported and a default returned, so that the rest of the definition is read too.
"""

from collections.abc import Collection, Mapping
from typing import TypeVar

from jeton.definitions.check_schema import check_schema
from jeton.definitions.read.location import NAME, SourceLocation
from jeton.definitions.report import Report, closest, did_you_mean, kind, listed, shown
from jeton.model.codes import ProblemCode
from jeton.model.json import Json, JsonObject, Schema

Choice = TypeVar("Choice", bound=str)

LARGEST = 10**15  # of any count or duration: sums still fit 64 bits


class Fields:
    """One object of a definition. Problems are reported, and a default is returned."""

    def __init__(self, value: JsonObject, location: SourceLocation, report: Report) -> None:
        self._value = value
        self.here = location
        self.report = report
        self.unknown = False  # whether there was an unknown key, perhaps a misspelling of a missing one

    def __contains__(self, key: str) -> bool:
        return key in self._value

    def location(self, key: str) -> SourceLocation:
        return self.here / key

    def value(self, key: str, default: Json = None) -> Json:
        """The value as written, of any type."""
        return self._value.get(key, default)

    def only(
        self,
        keys: Collection[str],
        what: str,
        hints: Mapping[str, str] | None = None,
        code: ProblemCode = "unknown_key",
    ) -> "Fields":
        """Report unknown keys, and return the same fields. `hints`: remedies for common mistakes."""
        for key in self._value:
            if key not in keys:
                self.unknown = True
                meant = closest(key, keys)
                remedy = f"write '{meant}', or remove it" if meant else f"remove it; {what} has {listed(sorted(keys))}"
                remedy = (hints or {}).get(key, remedy)
                self.report.error(self.here / key, code, f"{shown(key)} is not a key of {what}", remedy)
        return self

    def require(self, *keys: str) -> bool:
        """Whether all of these keys exist; reports the missing ones."""
        missing = [key for key in keys if key not in self._value]
        for key in missing:
            self.report.error(self.here, "missing_key", f"'{key}' is missing", f"add '{key}:'")
        return not missing

    def wrong(self, key: str, wanted: str, remedy: str = "") -> None:
        """Report that a key has a value of the wrong type."""
        problem = f"is {kind(self._value.get(key))}, but must be {wanted}"
        self.report.error(self.location(key), "wrong_type", problem, remedy or f"write {wanted}")

    def text(self, key: str) -> str | None:
        """A non-empty text."""
        value = self._value.get(key)
        if isinstance(value, str) and value:
            return value
        if key in self._value:
            self.wrong(key, "a text")
        return None

    def name(self, key: str) -> str | None:
        """A text that is a valid name."""
        value = self.text(key)
        if value is not None and not check_name(value, self.location(key), self.report):
            return None
        return value

    def integer(self, key: str, at_least: int) -> int | None:
        """A whole number of at least `at_least`."""
        value = self._value.get(key)
        if isinstance(value, bool) or not isinstance(value, int):
            if key in self._value:
                self.wrong(key, "a whole number")
            return None
        if value < at_least:
            problem = f"is {value}, but must be at least {at_least}"
            self.report.error(self.location(key), "out_of_range", problem, f"write {at_least} or more")
            return None
        if value > LARGEST:
            problem = f"is {value}, but must be at most {LARGEST}"
            self.report.error(self.location(key), "out_of_range", problem, "write less")
            return None
        return value

    def count(self, key: str) -> int | str | None:
        """A whole number of at least 1, or the expression of one."""
        value = self._value.get(key)
        return value if isinstance(value, str) and value else self.integer(key, at_least=1)

    def number(self, key: str, at_least: float = 0, above: float | None = None) -> float | None:
        """A number of at least `at_least`, or larger than `above`."""
        value = self._value.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float):
            if key in self._value:
                self.wrong(key, "a number")
            return None
        if value < at_least or (above is not None and value <= above):
            wanted = f"{at_least:g} or more" if above is None else f"more than {above:g}"
            problem = f"is {value}, but must be {wanted}"
            self.report.error(self.location(key), "out_of_range", problem, f"write {wanted}")
            return None
        return float(value)

    def flag(self, key: str, default: bool) -> bool:
        value = self._value.get(key, default)
        if not isinstance(value, bool):
            self.wrong(key, "true or false")
            return default
        return value

    def choice(self, key: str, default: Choice, *others: Choice) -> Choice:
        """One of several words; the first is the default."""
        value = self._value.get(key, default)
        for word in (default, *others):
            if word == value:
                return word
        words = (default, *others)
        meant = closest(value, words) if isinstance(value, str) else None
        remedy = f"write '{meant}'" if meant else f"write one of {listed(words)}"
        self.report.error(self.location(key), "unknown_value", f"is {kind(value)}, which is not allowed here", remedy)
        return default

    def object(self, key: str) -> JsonObject | None:
        value = self._value.get(key)
        if key in self._value and not isinstance(value, dict):
            self.wrong(key, "an object")
        return value if isinstance(value, dict) else None

    def list(self, key: str) -> list[Json] | None:
        value = self._value.get(key)
        if key in self._value and not isinstance(value, list):
            self.wrong(key, "a list")
        return value if isinstance(value, list) else None

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts; empty by default."""
        values = self.list(key) or []
        for index, value in enumerate(values):
            if not isinstance(value, str):
                problem = f"is {kind(value)}, but must be a text"
                self.report.error(self.location(key) / index, "wrong_type", problem, "put it in quotes")
        return tuple(value for value in values if isinstance(value, str))

    def schema(self, key: str) -> Schema | None:
        """A valid JSON Schema."""
        value = self.object(key)
        if value is None or not check_schema(value, self.location(key), self.report):
            return None
        return value

    def inner(self, key: str, keys: Collection[str], what: str) -> "Fields | None":
        """The fields of the object at a key."""
        if key not in self._value:
            return None
        return fields_of(self._value[key], self.location(key), self.report, keys, what)


def fields_of(
    value: Json,
    location: SourceLocation,
    report: Report,
    keys: Collection[str],
    what: str,
    hints: Mapping[str, str] | None = None,
    code: ProblemCode = "unknown_key",
) -> Fields | None:
    """The fields of an object, with unknown keys reported; None if it is not an object."""
    if not isinstance(value, dict):
        report.error(
            location, "wrong_type", f"is {kind(value)}, and {what} is an object", "write '{…}', or keys below it"
        )
        return None
    return Fields(value, location, report).only(keys, what, hints, code)


def check_name(name: str, location: SourceLocation, report: Report) -> bool:
    """Whether a name is valid: short and ASCII, so that it can be used in paths, tables and URLs."""
    if NAME.fullmatch(name):
        return True
    problem = f"{shown(name)} cannot be a name"
    remedy = "write up to 64 letters, digits, '_' and '-', beginning with a letter or '_'"
    report.error(location, "bad_name", problem, remedy)
    return False


def known_node(
    name: str | None, nodes: Collection[str], location: SourceLocation, verb: str, report: Report
) -> str | None:
    """The node of that name. An unknown name is reported and the most similar one returned: a typo is one problem."""
    if name is None or name in nodes:
        return name
    problem = f"{verb} {shown(name)}, and no node has that name"
    remedy = did_you_mean(name, nodes, f"add a node called {shown(name)}")
    report.error(location, "unknown_node", problem, remedy)
    return closest(name, nodes)
