"""The calls to the CEL library. No other module imports it."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import cast

from cel_expr_python import cel
from cel_expr_python.ext import ext_bindings, ext_math, ext_optional, ext_strings

from jeton.expression.decode import decode
from jeton.expression.own import OWN, OwnFunction
from jeton.expression.syntax import Node
from jeton.model.json import Json

TYPES = {
    "": cel.Type.DYN,
    "string": cel.Type.STRING,
    "int": cel.Type.INT,
    "list": cel.Type.List(cel.Type.DYN),
}
STATUS = re.compile(r"^[A-Z_]+: (.*?)(?: \[[A-Z_]+\])?$", re.DOTALL)


class CelError(Exception):
    """An evaluation error, in the library's words."""


class Program:
    """One expression compiled by the library. Threads may share it."""

    __slots__ = ("_expression", "_read")

    def __init__(self, expression: cel.Expression) -> None:
        self._expression = expression
        has_optionals = any(word in expression.serialize() for word in (b"_?._", b"_[?_]", b"optional."))
        self._read = read_by_item if has_optionals else cel.Value.plain_value

    def tree(self) -> Node:
        return decode(self._expression.serialize())

    def run(self, variables: Mapping[str, Json], plain_only: bool = True) -> Json:
        """The result as JSON, or as Python has it, with times. Raises CelError, and nothing else."""
        try:
            value = self._expression.eval(data=variables)
            plain = self._read(value)
        except (TypeError, SystemError):  # the one value that the library cannot turn into Python
            raise CelError("the result is an optional: open it with orValue") from None
        except Exception as error:  # whatever its C++ threw
            raise CelError(without_status(str(error))) from None
        # an error comes as text, so only text has to be looked at twice
        if isinstance(plain, str) and value.type() == cel.Type.ERROR:
            raise CelError(without_status(plain))
        return to_json(plain) if plain_only else cast(Json, plain)


def compile_source(source: str, variables: frozenset[str]) -> Program:
    """Compile the source. Raises RuntimeError with every problem the library found."""
    return Program(environment(variables, True).compile(source))


def parse_source(source: str, variables: frozenset[str]) -> Node:
    """The tree of a source, without the library's type check."""
    return Program(environment(variables, True).compile(source, disable_check=True)).tree()


@lru_cache(maxsize=4096)
def compile_part(source: str, variables: frozenset[str]) -> Program:
    """Compile a part of an expression to be run. Cached, because expressions share parts."""
    return Program(environment(variables, False).compile(source))


@lru_cache(maxsize=256)
def environment(variables: frozenset[str], own: bool) -> cel.Env:
    """What expressions may use. With our own functions it can check, and cannot run anything."""
    extensions: list[cel.CelExtensionBase] = [ext_strings.ExtStrings(), ext_math.ExtMath(), ext_bindings.ExtBindings()]
    if own:
        extensions.append(ext_optional.ExtOptional(1))  # the next version has a `first` and a `last`
        extensions.append(cel.CelExtension("jeton", [declared(name, function) for name, function in OWN.items()]))
    else:
        extensions.append(ext_optional.ExtOptional())
    return cel.NewEnv(variables=dict.fromkeys(sorted(variables), cel.Type.DYN), extensions=extensions)


def declared(name: str, function: OwnFunction) -> cel.FunctionDecl:
    """The declaration of a function that the library checks and never calls."""
    overload = cel.Overload(
        f"jeton_{name}",
        return_type=TYPES[function.gives],
        parameters=[TYPES[kind] for kind in function.takes],
        is_member=function.method,
    )
    return cel.FunctionDecl(name, [overload])


def read_by_item(value: cel.Value) -> object:
    """As plain_value(), which crashes the process if a map has an optional in it."""
    plain = value.value()
    if isinstance(plain, list):
        return [read_by_item(item) for item in cast(list[cel.Value], plain)]
    if isinstance(plain, dict):
        return {key: read_by_item(item) for key, item in cast(dict[object, cel.Value], plain).items()}
    return plain


def without_status(message: str) -> str:
    found = STATUS.match(message)
    return found[1] if found else message


def to_json(value: object) -> Json:
    """The value as JSON: times and keys become text, and what has no JSON form is an error."""
    match value:
        case None | bool() | str():
            return value
        case int():
            if not -(2**63) <= value < 2**63:
                raise CelError(f"the result {value} does not fit in 64 bits")
            return value
        case float():
            return value
        case list():
            return [to_json(item) for item in cast(list[object], value)]
        case dict():
            return {key_text(key): to_json(item) for key, item in cast(dict[object, object], value).items()}
        case datetime():
            return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
        case timedelta():
            return f"{value / timedelta(seconds=1):.6f}".rstrip("0").rstrip(".") + "s"
        case _:
            raise CelError("the result is bytes or a type, which JSON does not have")


def key_text(key: object) -> str:
    return key if isinstance(key, str) else str(key).lower() if isinstance(key, bool) else str(key)
