"""YAML 1.2 (core schema) into plain data with lines.

PyYAML resolves and constructs by YAML 1.1 (`no` is false, `12:30` is 750), so only its parser is used: its events are
a state machine without recursion, and everything they may turn into is decided here. No tag, no alias and no key of a
file can make this module build anything but JSON.
"""

import re
from collections.abc import Iterator

import msgspec
import yaml

from jeton.definitions.read.location import Key, Mark, Path
from jeton.definitions.report import Report, kind, shown
from jeton.definitions.text import plain
from jeton.model.codes import ProblemCode
from jeton.model.json import Json

NULL = frozenset(("", "~", "null", "Null", "NULL"))
TRUE = frozenset(("true", "True", "TRUE"))
FALSE = frozenset(("false", "False", "FALSE"))
DECIMAL = re.compile(r"[-+]?[0-9]+")
OCTAL = re.compile(r"0o[0-7]+")
HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
SPECIAL_FLOAT = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


class _Anchored(msgspec.Struct, frozen=True):
    """A complete value that aliases may refer to, with its expanded size and height."""

    value: Json
    mark: Mark
    size: int
    height: int


class _Frame:
    """A list or object being read. `key`: the key whose value comes next. `dropped`: that value is ignored."""

    def __init__(self, value: list[Json] | dict[str, Json], line: int, anchor: str | None) -> None:
        self.value = value
        self.line = line
        self.anchor = anchor
        self.inside: dict[Key, Mark] = {}
        self.key: str | None = None
        self.key_line = 0
        self.dropped = False
        self.size = 1
        self.height = 1

    @property
    def wants_key(self) -> bool:
        return isinstance(self.value, dict) and self.key is None and not self.dropped

    @property
    def next_key(self) -> Key:
        return len(self.value) if isinstance(self.value, list) else (self.key or "")


def read_yaml(text: str, file: str, report: Report) -> plain.Document | None:
    """Read the one document of a file. Returns None if it cannot be read, which is reported."""
    reader = _Reader(file, report)
    try:
        for event in _events(text):
            reader.take(event)
    except plain.Stopped:
        return None
    except yaml.YAMLError as error:
        _report_syntax(error, text, file, report)
        return None
    return reader.document or plain.Document(None, Mark(1))


def _events(text: str) -> Iterator[yaml.Event]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the C parser is not in every build
    yield from yaml.parse(text, Loader=loader)  # pyright: ignore[reportUnknownMemberType] its stubs are half typed


def _report_syntax(error: yaml.YAMLError, text: str, file: str, report: Report) -> None:
    line, problem = 1, str(error)
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else 1
        problem = " ".join(part for part in (error.context, error.problem) if part)
    elif isinstance(error, yaml.reader.ReaderError):
        position = error.position if isinstance(error.position, int) else 0
        line = text.count("\n", 0, position) + 1
        problem = f"holds a character that YAML does not allow: {error.reason}"
    remedy = "mind indentation and quotes: text with ': ', '#', '{' or '[' in it needs quotes"
    report.error(plain.unread_location(file, line, ()), "syntax", problem, remedy)


class _Reader:
    """Builds values from events, with its own stack instead of recursion, so that the depth can be limited."""

    def __init__(self, file: str, report: Report) -> None:
        self.document: plain.Document | None = None
        self._file = file
        self._report = report
        self._frames: list[_Frame] = []
        self._anchors: dict[str, _Anchored | None] = {}  # None while the value is being read
        self._nodes = 0
        self._aliases = 0

    def take(self, event: yaml.Event) -> None:
        match event:
            case yaml.AliasEvent():
                self._take_alias(event)
            case yaml.ScalarEvent():
                self._take_scalar(event)
            case yaml.SequenceStartEvent():
                self._begin([], event)
            case yaml.MappingStartEvent():
                self._begin({}, event)
            case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                self._finish()
            case yaml.DocumentStartEvent() if self.document is not None:
                problem = "holds a second document, and a library file is one"
                remedy = "put it into a file of its own, or remove the '---'"
                self._report.error(
                    plain.unread_location(self._file, _line(event), ()), "several_documents", problem, remedy
                )
                raise plain.Stopped
            case _:
                pass

    def _path(self) -> Path:
        """The path of the next value; for a key, the path of its object."""
        around = self._frames[:-1] if self._frames and self._frames[-1].wants_key else self._frames
        return tuple(frame.next_key for frame in around)

    def _error(self, line: int, code: ProblemCode, problem: str, remedy: str) -> None:
        self._report.error(plain.unread_location(self._file, line, self._path()), code, problem, remedy)

    def _count(self, nodes: int, line: int) -> None:
        self._nodes += nodes
        plain.stop_if_too_many(self._nodes, plain.unread_location(self._file, line, self._path()), self._report)

    def _refuse_tag(self, tag: str | None, line: int) -> None:
        if tag is not None:
            problem = f"has the tag {shown(tag)}, and definitions are plain data"
            self._error(line, "tag_refused", problem, "remove the tag; quote the value if it is meant as text")

    def _begin(self, value: list[Json] | dict[str, Json], event: yaml.CollectionStartEvent) -> None:
        line = _line(event)
        self._count(1, line)
        plain.stop_if_too_deep(
            len(self._frames) + 1, plain.unread_location(self._file, line, self._path()), self._report
        )
        self._refuse_tag(event.tag, line)
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        self._frames.append(_Frame(value, line, event.anchor))

    def _finish(self) -> None:
        frame = self._frames.pop()
        self._put(_Anchored(frame.value, Mark(frame.line, frame.inside), frame.size, frame.height), frame.anchor, False)

    def _take_scalar(self, event: yaml.ScalarEvent) -> None:
        line = _line(event)
        self._count(1, line)
        self._refuse_tag(event.tag, line)
        is_plain = bool(event.implicit[0]) and event.tag is None
        as_key = bool(self._frames) and self._frames[-1].wants_key
        if is_plain and as_key and event.value == "<<":
            problem = "is a merge key, which YAML 1.2 does not have"
            self._error(line, "merge_key", problem, "write the keys out")
        value = self._resolved(event.value, line) if is_plain else event.value
        location = plain.unread_location(self._file, line, self._path())
        self._put(
            _Anchored(plain.check_scalar(value, location, self._report), Mark(line), 1, 0), event.anchor, is_plain
        )

    def _resolved(self, text: str, line: int) -> Json:
        """The value of a plain scalar by the core schema of YAML 1.2."""
        location = plain.unread_location(self._file, line, self._path())
        if text in NULL:
            return None
        if text in TRUE or text in FALSE:
            return text in TRUE
        if DECIMAL.fullmatch(text):
            return plain.integer(text, 10, location, self._report)
        if OCTAL.fullmatch(text):
            return plain.integer(text[2:], 8, location, self._report)
        if HEXADECIMAL.fullmatch(text):
            return plain.integer(text[2:], 16, location, self._report)
        if FLOAT.fullmatch(text):
            return float(text)
        if SPECIAL_FLOAT.fullmatch(text):
            return float(text.replace(".", "", 1))
        return text

    def _take_alias(self, event: yaml.AliasEvent) -> None:
        line = _line(event)
        self._aliases += 1
        if self._aliases > plain.MAX_ALIASES:
            problem = f"holds more than {plain.MAX_ALIASES} aliases"
            self._error(line, "too_many_aliases", problem, "write the values out, or name them as definitions")
            raise plain.Stopped
        anchor = event.anchor or ""
        found = self._anchors.get(anchor)
        if found is None:
            reason = "refers to a value that contains it" if anchor in self._anchors else "has no anchor before it"
            problem = f"the alias {shown('*' + anchor)} {reason}"
            self._error(line, "bad_alias", problem, "write the value out")
            found = _Anchored(None, Mark(line), 1, 0)
        self._count(found.size, line)
        depth = len(self._frames) + found.height
        plain.stop_if_too_deep(depth, plain.unread_location(self._file, line, self._path()), self._report)
        self._put(_Anchored(found.value, Mark(line, found.mark.inside), found.size, found.height), None, False)

    def _put(self, found: _Anchored, anchor: str | None, is_plain: bool) -> None:
        """Add a complete value to the list or object around it."""
        if anchor is not None:
            self._anchors[anchor] = found
        if not self._frames:
            self.document = plain.Document(found.value, found.mark)
            return
        frame = self._frames[-1]
        frame.size += found.size
        frame.height = max(frame.height, found.height + 1)
        if frame.wants_key:
            self._put_key(frame, found, is_plain)
        elif isinstance(frame.value, list):
            frame.inside[len(frame.value)] = found.mark
            frame.value.append(found.value)
        else:
            if frame.key is not None:
                frame.inside[frame.key] = Mark(frame.key_line, found.mark.inside)
                frame.value[frame.key] = found.value
            frame.key, frame.dropped = None, False

    def _put_key(self, frame: _Frame, found: _Anchored, is_plain: bool) -> None:
        key, line = found.value, found.mark.line
        if not isinstance(key, str):
            as_text = "" if isinstance(key, list | dict) or not is_plain else ": put it in quotes"
            self._error(line, "key_not_text", f"a key is {kind(key)}, and keys are text", f"write a name{as_text}")
            frame.dropped = True
        elif key in frame.value:
            self._report_duplicate(frame, key, line)
            frame.dropped = True
        else:
            frame.key, frame.key_line = key, line

    def _report_duplicate(self, frame: _Frame, key: str, line: int) -> None:
        first = frame.inside[key].line
        location = plain.unread_location(self._file, line, (*self._path(), key))
        problem = f"the key {shown(key)} is duplicated; the first is on line {first}"
        self._report.error(location, "duplicate_key", problem, "remove one of the two, or give it another name")


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark is not None else 1
