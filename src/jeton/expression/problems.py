"""Turns what the library says about a source into problems that its author can act on."""

import difflib
import re
from collections.abc import Collection, Iterator

import msgspec

LONGEST_SOURCE = 10_000
FUNCTIONS = (
    "bool", "bytes", "ceil", "charAt", "contains", "double", "duration", "dyn", "endsWith", "exists", "exists_one",
    "filter", "format", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear", "getFullYear", "getHours",
    "getMilliseconds", "getMinutes", "getMonth", "getSeconds", "has", "hasValue", "indexOf", "int", "join",
    "lastIndexOf", "lowerAscii", "map", "matches", "math.abs", "math.ceil", "math.floor", "math.greatest",
    "math.least", "math.round", "math.sign", "math.sqrt", "math.trunc", "orValue", "quote", "replace", "reverse",
    "size", "split", "startsWith", "string", "substring", "timestamp", "trim", "type", "uint", "upperAscii", "all",
)  # fmt: skip
ERROR = re.compile(r"ERROR: <input>:(-?\d+):(-?\d+): (.*?)(?=\n \| |\nERROR: |$)", re.DOTALL)
UNDECLARED = re.compile(r"undeclared reference to '(.*)' \(in container ''\)")
STATUS = re.compile(r"^[A-Z_]+: (.*?)(?: \[[A-Z_]+\])?$", re.DOTALL)
WORDS = {"and": "&&", "or": "||", "not": "!", "=": "==", "===": "==", "True": "true", "False": "false", "None": "null"}


class ExpressionProblem(msgspec.Struct, frozen=True):
    problem: str
    remedy: str
    position: str  # line:column


class ExpressionInvalid(Exception):
    """The source is no expression over its variables; every reason the library found is listed."""

    def __init__(self, problems: tuple[ExpressionProblem, ...]) -> None:
        super().__init__("; ".join(f"{each.position}: {each.problem}" for each in problems))
        self.problems = problems


def position_of(source: str, at: int) -> str:
    """The line and column of a character, both counted from 1."""
    return f"{source.count(chr(10), 0, at) + 1}:{at - source.rfind(chr(10), 0, at)}"


def problems_of(message: str, source: str, variables: Collection[str]) -> tuple[ExpressionProblem, ...]:
    """What the library's compile error says, one problem for each of its lines."""
    found = tuple(dict.fromkeys(each_problem(message, source, variables)))
    if found:
        return found
    status = STATUS.match(message)
    problem = status[1] if status else message
    if "recursion limit" in problem:
        return (too_deep(),)
    return (ExpressionProblem(problem, "see the CEL language definition for what is allowed", "1:1"),)


def each_problem(message: str, source: str, variables: Collection[str]) -> Iterator[ExpressionProblem]:
    for line, column, said in ERROR.findall(message.removesuffix("[INVALID_ARGUMENT]").rstrip()):
        position = f"{line}:{column}"
        undeclared = UNDECLARED.search(said)
        if undeclared:
            yield unknown_name(undeclared[1], position, source, variables)
        elif "recursion" in said:
            yield too_deep()
        else:
            yield ExpressionProblem(said.split(" expecting {")[0], remedy_for(source), position)


def too_deep() -> ExpressionProblem:
    return ExpressionProblem("is nested too deeply: 32 levels are the limit", "split it into several mappings", "1:1")


def unknown_name(name: str, position: str, source: str, variables: Collection[str]) -> ExpressionProblem:
    """A name nobody declared is a function if a bracket stands at its position, and a variable otherwise."""
    line, column = (int(part) for part in position.split(":"))
    lines = source.split("\n")
    after = lines[line - 1][column - 1 :] if 0 < line <= len(lines) else ""
    if after.startswith("("):
        return ExpressionProblem(f"there is no function '{name}'", did_you_mean(name, FUNCTIONS), position)
    root = name.split(".")[0]
    return ExpressionProblem(f"there is no variable '{root}' here", did_you_mean(root, sorted(variables)), position)


def did_you_mean(name: str, known: Collection[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    if close:
        return f"did you mean '{close[0]}'?"
    if name in WORDS:
        return f"write {WORDS[name]}"
    return f"write one of: {', '.join(known)}" if len(known) <= 12 else "use one of the functions of CEL"


def remedy_for(source: str) -> str:
    for word, remedy in WORDS.items():
        if re.search(rf"(?<![\w=!<>]){re.escape(word)}(?![\w=])", source):
            return f"write {remedy} instead of {word}"
    return "correct it here"
