"""Queries over runs: words, and `field:value`.

`refund state.amount:12 status:failed "connection reset"`: all of it must be true of a run. A word is looked for in its
id, its key and its error, whatever the case. In quotes, text has spaces and colons, and a value is text and no number.
"""

import re
from typing import Final, Literal, TypeAlias, cast, get_args

import msgspec

from jeton.definitions.report import closest
from jeton.model.failure import Refused
from jeton.model.json import Json
from jeton.model.reference import parse_reference
from jeton.model.state.run import RunStatus

FIELDS: Final = ("workflow", "status", "trigger", "key", "error", "node")
STATE: Final = "state."
STATUSES: Final[tuple[RunStatus, ...]] = get_args(RunStatus)
LONGEST_QUERY: Final = 2000
MOST_TERMS: Final = 50

_TERM = re.compile(r'\s*((?:[^\s":]+):)?("(?:[^"\\]|\\.)*"|[^\s"]+)(?=\s|$)')
_ESCAPED = re.compile(r"\\(.)")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")

Scalar: TypeAlias = "str | int | float | bool | None"


class StateTerm(msgspec.Struct, frozen=True):
    """A value at a path of the state, such as `order.lines.0.sku`."""

    path: tuple[str, ...]
    value: Scalar


class RunQuery(msgspec.Struct, frozen=True):
    """A query, read. Every part of it must be true of a run; of `statuses`, one; none: any."""

    words: tuple[str, ...] = ()
    workflow: tuple[str, ...] = ()
    statuses: frozenset[RunStatus] = frozenset()
    trigger: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    error: tuple[str, ...] = ()
    node: tuple[str, ...] = ()
    state: tuple[StateTerm, ...] = ()

    @property
    def needs_state(self) -> bool:
        """Whether the state of a run must be read to tell."""
        return bool(self.node or self.state)


class _Term(msgspec.Struct, frozen=True):
    field: str | None
    text: str
    quoted: bool


def read_query(text: str) -> RunQuery:
    """Read a query. Raises Refused, with the code `bad_query`, if it is none."""
    if len(text) > LONGEST_QUERY:
        raise _bad(f"is longer than {LONGEST_QUERY} characters", "ask for less")
    found: dict[str, list[str]] = {field: [] for field in FIELDS}
    words: list[str] = []
    state: list[StateTerm] = []
    statuses: frozenset[RunStatus] | None = None
    for term in _terms(text):
        match term.field:
            case None:
                words.append(term.text)
            case "status":
                named = read_statuses(term.text, "bad_query")
                statuses = named if statuses is None else statuses & named
            case field if field in found:
                found[field].append(_reference(term.text) if field == "workflow" else term.text)
            case field if field.startswith(STATE):
                state.append(StateTerm(_path(field), term.text if term.quoted else scalar_in(term.text)))
            case field:
                raise _unknown_field(field)
    if statuses is not None and not statuses:
        raise _bad("asks for two statuses at once", "join them with a comma: status:failed,waiting")
    others = {field: tuple(texts) for field, texts in found.items() if field != "status"}
    return RunQuery(words=tuple(words), statuses=statuses or frozenset(), state=tuple(state), **others)


def read_statuses(text: str, code: Literal["bad_argument", "bad_query"] = "bad_argument") -> frozenset[RunStatus]:
    """Statuses joined by commas. Raises Refused with this code for one that there is not."""
    found: set[RunStatus] = set()
    for name in text.split(","):
        if name not in STATUSES:
            meant = closest(name, STATUSES)
            remedy = f"write '{meant}'" if meant is not None else f"there are: {', '.join(STATUSES)}"
            raise Refused(code, f"status: there is no status '{name[:60]}'", remedy)
        found.add(name)
    return frozenset(found)


def scalar_in(text: str) -> Scalar:
    """The value that a text without quotes means: a number, true, false, null, or the text itself."""
    match text:
        case "true":
            return True
        case "false":
            return False
        case "null":
            return None
        case _ if _NUMBER.fullmatch(text):
            try:
                return cast("Scalar", msgspec.json.decode(text))
            except msgspec.DecodeError:
                return text
        case _:
            return text


def same_scalar(value: Json, wanted: Scalar) -> bool:
    """Whether a value of a state is the one that was asked for. 1 and 1.0 are the same, 1 and true are not."""
    if isinstance(value, bool) or isinstance(wanted, bool) or value is None or wanted is None:
        return value is wanted
    if isinstance(value, int | float) and isinstance(wanted, int | float):
        return value == wanted
    return isinstance(value, str) and value == wanted


def value_at(state: Json, path: tuple[str, ...]) -> tuple[Json] | None:
    """The value at a path, in a tuple; None if there is none. Parts of a path name keys, and places in lists."""
    here = state
    for part in path:
        match here:
            case dict() if part in here:
                here = here[part]
            case list() if part.isascii() and part.isdigit() and len(part) < 10 and int(part) < len(here):
                here = here[int(part)]
            case _:
                return None
    return (here,)


def _terms(text: str) -> list[_Term]:
    found: list[_Term] = []
    at = 0
    rest = text.rstrip()
    while at < len(rest):
        match = _TERM.match(rest, at)
        if match is None:
            raise _bad(f"cannot be read from '{rest[at : at + 40].strip()}' on", "close the quotes, or leave them out")
        at = match.end()
        field, value = match.groups()
        quoted = value.startswith('"')
        plain = _ESCAPED.sub(r"\1", value[1:-1]) if quoted else value
        if field is None and not quoted and plain.endswith(":"):
            raise _bad(f"has no value behind '{plain[:60]}'", "write field:value, without a space")
        found.append(_Term(None if field is None else field[:-1], plain, quoted))
        if len(found) > MOST_TERMS:
            raise _bad(f"has more than {MOST_TERMS} terms", "ask for less")
    return [term for term in found if term.text or term.field is not None]


def _path(field: str) -> tuple[str, ...]:
    parts = tuple(field.removeprefix(STATE).split("."))
    if not all(parts):
        raise _bad(f"has no path in '{field[:60]}'", "write it like state.order.amount:12")
    return parts


def _reference(text: str) -> str:
    try:
        parse_reference(text)
    except Refused as refused:
        raise Refused("bad_query", f"workflow: {refused.problem}", refused.remedy) from None
    return text


def _unknown_field(field: str) -> Refused:
    known = (*FIELDS, "state.PATH")
    of_data = field.partition(".")[0] in ("state", "context", "input", "output")
    meant = "state.PATH" if of_data else closest(field, FIELDS)
    quotes = "put text with a colon in quotes"
    remedy = f"write '{meant}', or {quotes}" if meant is not None else f"there are: {', '.join(known)}; or {quotes}"
    return _bad(f"has no field '{field[:60]}'", remedy)


def _bad(problem: str, remedy: str) -> Refused:
    return Refused("bad_query", f"the query {problem}", remedy)
