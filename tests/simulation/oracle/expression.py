"""`tiny_evaluate`: enough of CEL to drive the oracle by hand, as a recursive descent that evaluates while it reads.

Paths, indices, literals, lists, `== != < <= > >=`, `&& || !`, `+ - *`, `has(x.y)`, `size(x)` and the functions of
functions.py. As in CEL, `&&` and
`||` do not care on which side the error is when the other side already decides. Beside a double an int becomes one."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from tests.simulation.oracle.functions import called, same
from tests.simulation.oracle.model import ExpressionFault, MissingKey, Object, is_list, is_object

TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+\.\d+|\d+)|(?P<text>'[^']*'|\"[^\"]*\")|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<sign>&&|\|\||==|!=|<=|>=|[-+*<>!()\[\],.]))"
)
Thunk = Callable[[], Any]  # evaluation is put off, so that `&&` can look at both sides and `has` at none


def tiny_evaluate(source: Any, scope: Object) -> Any:
    """expressions.md#text-and-literals: a value that is not a string is a literal."""
    if not isinstance(source, str):
        return source
    parser = Parser(source, scope)
    thunk = parser.either()
    if parser.words:
        raise ExpressionFault(f"unexpected {parser.words[0][1]!r} in {source!r}")
    return thunk()


class Parser:
    def __init__(self, source: str, scope: Object) -> None:
        self.scope = dict(scope)
        self.words: list[tuple[str, str]] = []
        at = 0
        text = source.rstrip()
        while at < len(text):
            found = TOKEN.match(text, at)
            if found is None:
                raise ExpressionFault(f"cannot read {text[at:]!r}")
            kind = str(found.lastgroup)
            self.words.append((kind, found.group(kind)))
            at = found.end()

    def sees(self, *signs: str) -> bool:
        return bool(self.words) and self.words[0][0] == "sign" and self.words[0][1] in signs

    def take(self) -> tuple[str, str]:
        if not self.words:
            raise ExpressionFault("the expression ends too early")
        return self.words.pop(0)

    def expect(self, sign: str) -> None:
        if self.take() != ("sign", sign):
            raise ExpressionFault(f"expected {sign!r}")

    def either(self) -> Thunk:
        left = self.both()
        while self.sees("||"):
            self.take()
            left = junction(left, self.both(), decides=True)
        return left

    def both(self) -> Thunk:
        left = self.comparison()
        while self.sees("&&"):
            self.take()
            left = junction(left, self.comparison(), decides=False)
        return left

    def comparison(self) -> Thunk:
        left = self.sum()
        while self.sees("==", "!=", "<", "<=", ">", ">="):
            sign = self.take()[1]
            left = binary(sign, left, self.sum())
        return left

    def sum(self) -> Thunk:
        left = self.product()
        while self.sees("+", "-"):
            sign = self.take()[1]
            left = binary(sign, left, self.product())
        return left

    def product(self) -> Thunk:
        left = self.unary()
        while self.sees("*"):
            self.take()
            left = binary("*", left, self.unary())
        return left

    def unary(self) -> Thunk:
        if self.sees("!"):
            self.take()
            operand = self.unary()
            return lambda: not boolean(operand())
        if self.sees("-"):
            self.take()
            operand = self.unary()
            return lambda: -number(operand())
        return self.path()

    def path(self) -> Thunk:
        thunk, name = self.primary()
        while self.sees(".", "["):
            if self.take()[1] == ".":
                key = self.take()[1]
                if self.sees("("):
                    thunk = self.method(thunk, key, name)
                    name = f"{name}.{key}(…)"
                    continue
                name = f"{name}.{key}"
                thunk = field(thunk, key, name)
            else:
                index = self.either()
                self.expect("]")
                thunk = item(thunk, index, name)
        return thunk

    def method(self, target: Thunk, name: str, written: str) -> Thunk:
        self.expect("(")
        if name == "sort_by":
            return self.sort_by(target)
        arguments = self.arguments()
        if written in ("json", "base64", "hash"):
            return lambda: called(f"{written}.{name}", [argument() for argument in arguments])
        return lambda: called(name, [target(), *(argument() for argument in arguments)])

    def sort_by(self, target: Thunk) -> Thunk:
        variable_name = self.take()[1]
        self.expect(",")
        (key,) = self.arguments()

        def of(item: Any) -> Any:
            outer = dict(self.scope)
            self.scope[variable_name] = item
            try:
                return key()
            finally:
                self.scope.clear()
                self.scope.update(outer)

        return lambda: called("sort_by", [target(), of])

    def arguments(self) -> list[Thunk]:
        """What stands between the brackets, of which the first is read."""
        parts: list[Thunk] = []
        while not self.sees(")"):
            parts.append(self.either())
            if not self.sees(")"):
                self.expect(",")
        self.expect(")")
        return parts

    def primary(self) -> tuple[Thunk, str]:
        kind, word = self.take()
        if kind == "number":
            value: Any = float(word) if "." in word else int(word)
            return (lambda: value), word
        if kind == "text":
            return (lambda: word[1:-1]), word
        if (kind, word) == ("sign", "("):
            inner = self.either()
            self.expect(")")
            return inner, "(…)"
        if (kind, word) == ("sign", "["):
            parts: list[Thunk] = []
            while not self.sees("]"):
                parts.append(self.either())
                if not self.sees("]"):
                    self.expect(",")
            self.expect("]")
            return (lambda: [part() for part in parts]), "[…]"
        if kind != "name":
            raise ExpressionFault(f"unexpected {word!r}")
        if self.sees("("):
            self.take()
            before = list(self.words)
            argument = self.either()
            written = "".join(part for _, part in before[: len(before) - len(self.words)])
            self.expect(")")
            return function(word, argument, written), f"{word}(…)"
        if word in ("true", "false", "null"):
            constant = {"true": True, "false": False, "null": None}[word]
            return (lambda: constant), word
        return variable(self.scope, word), word


def variable(scope: Object, name: str) -> Thunk:
    def read() -> Any:
        if name not in scope:
            raise MissingKey(name)
        return scope[name]

    return read


def field(of: Thunk, key: str, name: str) -> Thunk:
    def read() -> Any:
        whole = of()
        if not is_object(whole):
            raise ExpressionFault(f"{name}: not an object")
        if key not in whole:
            raise MissingKey(name)
        return whole[key]

    return read


def item(of: Thunk, index: Thunk, name: str) -> Thunk:
    def read() -> Any:
        whole, at = of(), index()
        if is_object(whole):
            if at not in whole:
                raise MissingKey(f"{name}[{at!r}]")
            return whole[at]
        # expressions.md#missing-keys: A list index out of range is an `expression_error`.
        if not is_list(whole) or isinstance(at, bool) or not isinstance(at, int) or not 0 <= at < len(whole):
            raise ExpressionFault(f"{name}[{at!r}]: no such element")
        return whole[at]

    return read


def function(name: str, argument: Thunk, written: str) -> Thunk:
    def has() -> bool:
        try:
            argument()
        except MissingKey as missing:
            if missing.path != written:  # has(a.b.c) asks for c alone; a missing b is as missing as anywhere else
                raise
            return False
        return True

    def size() -> int:
        value = argument()
        if not (is_list(value) or is_object(value) or isinstance(value, str)):
            raise ExpressionFault("size() of something without one")
        return len(value)

    known: dict[str, Thunk] = {"has": has, "size": size, "range": lambda: called("range", [argument()])}
    if name not in known:
        raise ExpressionFault(f"unknown function {name!r}")
    return known[name]


def boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ExpressionFault(f"{value!r} is not true or false")
    return value


def number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ExpressionFault(f"{value!r} is not a number")
    return value


def junction(left: Thunk, right: Thunk, *, decides: bool) -> Thunk:
    def read() -> bool:
        troubles: list[Exception] = []
        for side in (left, right):
            try:
                if boolean(side()) is decides:
                    return decides
            except (MissingKey, ExpressionFault) as trouble:
                troubles.append(trouble)
        if troubles:
            raise troubles[0]
        return not decides

    return read


def binary(sign: str, left: Thunk, right: Thunk) -> Thunk:
    def read() -> Any:
        one, two = left(), right()
        if sign in ("==", "!="):
            return same(one, two) is (sign == "==")
        if {type(one), type(two)} == {int, float} and sign in "+-*":
            one, two = float(one), float(two)
        numbers = {type(one), type(two)} <= {int, float}
        if (
            (type(one) is not type(two) and not numbers)
            or not isinstance(one, int | float | str | list)
            or isinstance(one, bool)
        ):
            raise ExpressionFault(f"no {sign} for {one!r} and {two!r}")
        if (isinstance(one, list) and sign != "+") or (isinstance(one, str) and sign in "-*"):
            raise ExpressionFault(f"no {sign} for {one!r} and {two!r}")
        operations: dict[str, Callable[[Any, Any], Any]] = {
            "<": lambda a, b: a < b,
            "<=": lambda a, b: a <= b,
            ">": lambda a, b: a > b,
            ">=": lambda a, b: a >= b,
            "+": lambda a, b: a + b,
            "-": lambda a, b: a - b,
            "*": lambda a, b: a * b,
        }
        made = operations[sign](one, two)
        if isinstance(made, float) and not math.isfinite(made):
            raise ExpressionFault(f"{one!r} {sign} {two!r} is not finite")
        return made

    return read
