"""Compile errors of the library as problems with a position and a remedy."""

import difflib
import re
from collections.abc import Collection, Iterator

import msgspec

from jeton.expression.own import OWN
from jeton.expression.values import position_of

LONGEST_SOURCE = 10_000
FUNCTIONS = (
    *OWN,
    *("all", "bool", "bytes", "charAt", "contains", "double", "duration", "dyn", "endsWith", "exists", "exists_one"),
    *("filter", "format", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear", "getFullYear", "getHours"),
    *("getMilliseconds", "getMinutes", "getMonth", "getSeconds", "has", "hasValue", "indexOf", "int", "join"),
    *("lastIndexOf", "lowerAscii", "map", "matches", "math.abs", "math.ceil", "math.floor", "math.greatest"),
    *("math.least", "math.round", "math.sign", "math.sqrt", "math.trunc", "optMap", "orValue", "replace"),
    *(
        "size",
        "sort_by",
        "split",
        "startsWith",
        "string",
        "substring",
        "timestamp",
        "trim",
        "type",
        "upperAscii",
        "value",
    ),
)
# what people write who come from other languages
FOREIGN_WORDS = {
    "and": "&&",
    "or": "||",
    "not": "!",
    "is": "==",
    "=": "==",
    "===": "==",
    "True": "true",
    "False": "false",
    "None": "null",
    "nil": "null",
    "undefined": "null",
    "len": "size",
    "length": "size",
    "any": "exists",
    "lower": "lowerAscii",
    "upper": "upperAscii",
    "str": "string",
    "float": "double",
    "includes": "contains",
}

ERROR = re.compile(r"ERROR: <input>:(-?\d+):(-?\d+): (.*?)(?=\n \| |\nERROR: |$)", re.DOTALL)
STATUS = re.compile(r"^[A-Z_]+: (.*?)(?: \[[A-Z_]+\])?$", re.DOTALL)
UNDECLARED = re.compile(r"undeclared reference to '(.*)' \(in container ''\)")
OVERLOAD = re.compile(r"found no matching overload for '(.*)' applied to '\((.*)\)'")
UNEXPECTED = re.compile(r"Syntax error: [a-z ]+(?: input| at:) '(.*?)'?(?: expecting|$)", re.DOTALL)
TYPE_NAME = re.compile(r"variable '(.*)' declared multiple times")


ARITHMETIC = frozenset({"_+_", "_-_", "_*_", "_/_"})
COMPARED = frozenset({"_<_", "_<=_", "_>_", "_>=_", "_==_", "_!=_"})
MIXING = ARITHMETIC | COMPARED
"""Operators that take an int and a double together, which CEL's do not."""


class ExpressionProblem(msgspec.Struct, frozen=True):
    problem: str
    remedy: str
    position: str  # line:column


class ExpressionInvalid(Exception):
    """The source cannot be compiled. Lists every problem found."""

    def __init__(self, problems: tuple[ExpressionProblem, ...]) -> None:
        super().__init__("; ".join(f"{each.position}: {each.problem}" for each in problems))
        self.problems = problems


class Unsupported(Exception):
    """The source is valid CEL that uses an unsupported feature."""

    def __init__(self, problem: str, remedy: str, at: int) -> None:
        super().__init__(problem)
        self.problem, self.remedy, self.at = problem, remedy, at


def unreadable(source: str) -> ExpressionProblem | None:
    """Why the source cannot be given to the library: it is too long, or not valid Unicode."""
    if len(source) > LONGEST_SOURCE:
        problem = f"is {len(source):,} characters long, and {LONGEST_SOURCE:,} are the limit"
        return ExpressionProblem(problem, "split it into several mappings", "1:1")
    try:
        source.encode()
    except UnicodeEncodeError as error:
        return ExpressionProblem("is not valid Unicode", "remove this character", position_of(source, error.start))
    return None


def problems_of(message: str, source: str, variables: Collection[str]) -> tuple[ExpressionProblem, ...]:
    """The problems in the library's compile error."""
    if not source.strip():
        return (ExpressionProblem("is empty", "write an expression: an empty text is ''", "1:1"),)
    if syntax := next((each for each in ERROR.findall(without_code(message)) if "Syntax error" in each[2]), None):
        return (syntax_error(syntax[2], f"{syntax[0]}:{syntax[1]}"),)  # those after it are mostly due to it
    found = dict.fromkeys(each_problem(message, source, variables))
    if found:
        return tuple(sorted(found, key=lambda each: [int(part) for part in each.position.split(":")]))
    status = STATUS.match(message)
    problem = status[1] if status else message
    if "recursion limit" in problem:
        return (too_deep(),)
    if taken := TYPE_NAME.search(problem):
        remedy = "give the item variable another name"
        return (ExpressionProblem(f"the variable '{taken[1]}' has the name of a CEL type", remedy, "1:1"),)
    return (ExpressionProblem(problem, "write it another way", "1:1"),)


def without_code(message: str) -> str:
    return message.removesuffix("[INVALID_ARGUMENT]").rstrip()


def each_problem(message: str, source: str, variables: Collection[str]) -> Iterator[ExpressionProblem]:
    for line, column, said in ERROR.findall(without_code(message)):
        position = f"{line}:{column}"
        if undeclared := UNDECLARED.search(said):
            yield unknown_name(undeclared[1], position, source, variables)
        elif mixes_numbers(said):
            continue
        elif overload := OVERLOAD.search(said):
            yield no_overload(overload[1], overload[2], position)
        elif "max recursion depth" in said:
            yield too_deep()
        else:
            yield ExpressionProblem(said, REMEDIES.get(said.split(":")[0], "write it another way"), position)


def mixes_numbers(said: str) -> bool:
    """Whether the library's checker complains of an operator between an int and a double."""
    overload = OVERLOAD.search(said)
    return overload is not None and overload[1] in MIXING and overload[2] in ("int, double", "double, int")


def only_mixes(message: str) -> bool:
    """Whether the library's checker complains of nothing else."""
    found = ERROR.findall(without_code(message))
    return bool(found) and all(mixes_numbers(said) for _, _, said in found)


REMEDIES = {
    "reserved identifier": 'a field that has a word of CEL for its name is read as state["name"]',
    "invalid int literal": "write a double, or a text: ints are 64 bit",
    "has() argument must be a field selection": "write has(state.field)",
}


def too_deep() -> ExpressionProblem:
    return ExpressionProblem("is nested too deeply: 32 levels are the limit", "split it into several mappings", "1:1")


def unknown_name(name: str, position: str, source: str, variables: Collection[str]) -> ExpressionProblem:
    """An undeclared name: a function if a bracket is at its position, a variable otherwise."""
    line, column = (int(part) for part in position.split(":"))
    lines = source.split("\n")
    if lines[line - 1][column - 1 :].startswith("("):
        remedy = (
            form_of(name)
            or suggestion(name, FUNCTIONS)
            or "use one of the functions of CEL, with the number of arguments it takes"
        )
        return ExpressionProblem(f"there is no function '{name}'", remedy, position)
    root = name.split(".")[0]
    remedy = suggestion(root, variables) or f"write one of {', '.join(sorted(variables))}; a text is written '{root}'"
    return ExpressionProblem(f"there is no variable '{root}' here", remedy, position)


def form_of(name: str) -> str | None:
    """How an own function is called that was called in another form."""
    if name not in OWN:
        return None
    arguments = [ARGUMENT_NAMES[kind] for kind in OWN[name].takes]
    return (
        f"write {arguments.pop(0)}.{name}({', '.join(arguments)})"
        if OWN[name].method
        else f"write {name}({', '.join(arguments)})"
    )


ARGUMENT_NAMES = {"": "value", "string": "text", "int": "number", "list": "list"}


def suggestion(name: str, known: Collection[str]) -> str | None:
    close = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.6)
    if name in FOREIGN_WORDS:
        return f"write {FOREIGN_WORDS[name]}"
    return f"did you mean '{close[0]}'?" if close and close[0] != name else None


def no_overload(function: str, arguments: str, position: str) -> ExpressionProblem:
    kinds = [kind.strip().replace("null_type", "null") for kind in arguments.split(",")]
    if function == "_?_:_" and len(kinds) == 3:
        problem = f"the two sides of ? : are {kinds[1]} and {kinds[2]}"
        return ExpressionProblem(problem, "write dyn(…) around one of them, if that is meant", position)
    remedy = "bring both sides to one type, as with double(…) or string(…)"
    return ExpressionProblem(f"there is no {function.strip('_@')} for {' and '.join(kinds)}", remedy, position)


def syntax_error(said: str, position: str) -> ExpressionProblem:
    unexpected = UNEXPECTED.search(said)
    token = unexpected[1].strip() if unexpected else said.removeprefix("Syntax error: ")
    if token == "<EOF>":
        return ExpressionProblem("ends unexpectedly", "complete it", position)
    if token[:1] in ("'", '"'):
        return ExpressionProblem("has a string without a closing quote", f"close it with {token[0]}", position)
    if token[:1] == ".":
        return ExpressionProblem("has no field name after the dot", REMEDIES["reserved identifier"], position)
    remedy = f"write {FOREIGN_WORDS[token]}" if token in FOREIGN_WORDS else "remove it, or write text 'in quotes'"
    return ExpressionProblem(f"'{token}' does not belong here", remedy, position)
