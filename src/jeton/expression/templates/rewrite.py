"""Rewrite a template so that every operation that can grow a text is counted.

The template engine is native code: what it allocates cannot be bounded from outside, and a failed allocation ends
the process. So only operations that cannot grow, or that pass one of our guards, reach it. Two rules keep a value from
growing without a guard: there are no macros, namespaces or recursive loops, and lists and objects written in a template
hold literals only.
"""

import re
from collections.abc import Callable
from typing import Final, NamedTuple, NoReturn

from jeton.expression.templates.allowed import (
    CHECKED,
    COUNTED,
    FILTERS,
    FUNCTIONS,
    LITERAL_ARGUMENTS,
    MAPPED_FILTERS,
    METHODS,
    TESTS,
    TemplateRefused,
)

MAX_NESTING: Final = 60

_TOKEN: Final = re.compile(
    r"""\s*(?:
    (?P<number>0[xXbBoO][0-9a-fA-F_]+|[0-9][0-9_]*(?:\.[0-9][0-9_]*)?(?:[eE][+-]?[0-9]+)?)
  | (?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
  | (?P<name>[^\W\d]\w*)
  | (?P<sign>\*\*|//|==|!=|<=|>=|[-+*/%~<>.,:|=()\[\]{}!])
    )""",
    re.VERBOSE | re.DOTALL,
)
_CONSTANTS: Final = frozenset({"true", "false", "none", "True", "False", "None"})
_SMALL_INDENT: Final = re.compile(r"((indent=)?([0-8]|true|false|none))?", re.IGNORECASE)
_BEFORE: Final = {
    "join": "|map('string')",
    "replace": "|string",
    "indent": "|string",
    "format": "|_format",
}
"""What a value passes before one of these filters."""
_KEYWORDS: Final = frozenset({"and", "or", "not", "in", "is", "if", "else", "recursive"})


class Token(NamedTuple):
    """A token of an expression. The kind is that of a group of the pattern, or `end`."""

    kind: str
    text: str


class Written(NamedTuple):
    """A rewritten expression, and what is known of it."""

    text: str
    literal: bool = False
    string: bool = False


END: Final = Token("end", "")


def tokens(source: str) -> list[Token]:
    """The tokens between the braces of a tag."""
    found: list[Token] = []
    at, end = 0, len(source.rstrip())
    while at < end:
        match = _TOKEN.match(source, at)
        if match is None or match.lastgroup is None:
            raise TemplateRefused(f"unexpected {source[at:].strip()[:1]!r}")
        found.append(Token(match.lastgroup, match[match.lastgroup]))
        at = match.end()
    return found


class Rewriter:
    """A parser by recursive descent, with the precedences of the engine. Each method returns rewritten text."""

    def __init__(self, found: list[Token]) -> None:
        """Read the tokens of one tag."""
        self.tokens = found
        self.at = 0
        self.depth = 0

    def next(self) -> Token:
        """The token to read, without taking it."""
        return self.tokens[self.at] if self.at < len(self.tokens) else END

    def take(self) -> Token:
        """Take the next token."""
        token = self.next()
        self.at += 1
        return token

    def sees(self, *texts: str) -> bool:
        """Whether the next token is one of these names or signs."""
        token = self.next()
        return token.kind in ("name", "sign") and token.text in texts

    def skip(self, text: str) -> bool:
        """Take the next token if it is this one."""
        if self.sees(text):
            self.at += 1
            return True
        return False

    def expect(self, text: str) -> None:
        """Take this token, or refuse the template."""
        if not self.skip(text):
            self.refuse()

    def name(self) -> str:
        """Take a name that is no keyword."""
        token = self.take()
        if token.kind != "name" or token.text in _KEYWORDS:
            raise TemplateRefused(f"a name was expected, and there is {token.text or 'the end'!r}")
        return token.text

    def finish(self) -> None:
        """Refuse what is left over."""
        if self.next() is not END:
            self.refuse()

    def refuse(self) -> NoReturn:
        """Refuse the next token."""
        raise TemplateRefused(f"unexpected {self.next().text or 'end of the tag'!r}")

    def expression(self, *, condition: bool = True) -> Written:
        """Read an expression. Without `condition` an `if` after it is not part of it."""
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise TemplateRefused("it is nested too deeply")
        found = self._or()
        while condition and self.skip("if"):
            test = self._or()
            other = f" else {self.expression().text}" if self.skip("else") else ""
            found = Written(f"({found.text} if {test.text}{other})")
        self.depth -= 1
        return found

    def _or(self) -> Written:
        return self._left_to_right(self._and, "or")

    def _and(self) -> Written:
        return self._left_to_right(self._not, "and")

    def _not(self) -> Written:
        negations = 0
        while self.skip("not"):
            negations += 1
        found = self._compare()
        return found if not negations else Written("(" + "not " * negations + found.text + ")")

    def _compare(self) -> Written:
        first = self._sum()
        parts = [first.text]
        while True:
            if self.sees("==", "!=", "<", "<=", ">", ">=", "in"):
                sign = self.take().text
            elif self.sees("not") and self.tokens[self.at + 1 : self.at + 2] == [Token("name", "in")]:
                self.at += 2
                sign = "not in"
            else:
                break
            parts.append(f" {sign} {self._sum().text}")
        return first if len(parts) == 1 else Written("(" + "".join(parts) + ")")

    def _sum(self) -> Written:
        found = self._concat()
        while self.sees("+", "-"):
            if self.skip("-"):
                found = Written(f"({found.text} - {self._concat().text})")
                continue
            terms = [found]
            while self.skip("+"):
                terms.append(self._concat())
            found = self._plus(terms)
        return found

    def _plus(self, terms: list[Written]) -> Written:
        """Numbers are added by the engine; texts are joined by a guard. A double minus fails for anything else."""
        numbers = " + ".join(f"-(-{term.text})" for term in terms)
        texts = ", ".join(term.text for term in terms)
        if any(term.string for term in terms):
            return Written(f"_join({texts})")
        if any(term.literal for term in terms):
            return Written(f"({numbers})")
        return Written(f"(_join({texts}) if {terms[0].text} is string else {numbers})")

    def _concat(self) -> Written:
        terms = [self._product()]
        while self.skip("~"):
            terms.append(self._product())
        if len(terms) == 1:
            return terms[0]
        return Written("_join(" + ", ".join(f"({term.text}|string)" for term in terms) + ")")

    def _product(self) -> Written:
        found = self._power()
        while self.sees("*", "/", "//", "%"):
            sign, other = self.take().text, self._power()
            if sign == "*" and (found.string or other.string):
                found = Written(f"_repeat({found.text}, {other.text})")
            else:
                found = Written(f"(-(-{found.text}) {sign} -(-{other.text}))")
        return found

    def _power(self) -> Written:
        found = self._unary()
        while self.skip("**"):
            found = Written(f"(-(-{found.text}) ** -(-{self._unary().text}))")
        return found

    def _unary(self) -> Written:
        minuses = 0
        while self.skip("-"):
            minuses += 1
        found = self._postfix(self._primary())
        if minuses:
            found = Written("(" + "-(" * minuses + found.text + ")" * minuses + ")", literal=found.literal)
        return self._filtered(found)

    def _primary(self) -> Written:
        token = self.take()
        match token.kind:
            case "number":
                return Written(token.text, literal=True)
            case "text":
                return Written(token.text, literal=True, string=True)
            case "name" if token.text in _CONSTANTS:
                return Written(token.text, literal=True)
            case "name" if token.text not in _KEYWORDS:
                return Written(self._called(token.text))
            case "sign" if token.text == "(":
                return self._parenthesized()
            case "sign" if token.text == "[":
                return Written("[" + ", ".join(self._items("]", self._literal)) + "]", literal=True)
            case "sign" if token.text == "{":
                return Written("{" + ", ".join(self._items("}", self._pair)) + "}", literal=True)
            case _:
                self.at -= 1
                self.refuse()

    def _parenthesized(self) -> Written:
        found = self.expression()
        if self.sees(","):
            raise TemplateRefused("tuples are not available; write a list of literals")
        self.expect(")")
        return Written(f"({found.text})", found.literal, found.string)

    def _called(self, name: str) -> str:
        if not self.skip("("):
            return name
        if name not in FUNCTIONS:
            raise TemplateRefused(f"there is no function {name!r}; there are: {', '.join(sorted(FUNCTIONS))}")
        return f"{name}({', '.join(self._items(')', self._argument))})"

    def _postfix(self, found: Written) -> Written:
        text = found.text
        while self.sees(".", "[", "("):
            if self.skip("."):
                token = self.take()
                if token.kind not in ("name", "number"):
                    self.at -= 1
                    self.refuse()
                text = f"{text}.{token.text}"
                if self.skip("("):
                    if token.text not in METHODS:
                        raise TemplateRefused(
                            f"there is no method {token.text!r}; write a filter, such as '|replace(…)' or '|join(…)'"
                        )
                    text = f"{text}({', '.join(self._items(')', self._argument))})"
            elif self.skip("["):
                text = f"{text}[{self._subscript()}]"
            else:
                self.refuse()
        return found if text is found.text else Written(text)

    def _subscript(self) -> str:
        parts = [""]
        while not self.skip("]"):
            if self.skip(":"):
                parts.append("")
            elif parts[-1]:
                self.refuse()
            else:
                parts[-1] = self.expression().text
        return ":".join(parts)

    def _filtered(self, found: Written) -> Written:
        while self.sees("|", "is"):
            if self.take().text == "|":
                found = self._filter(found)
            else:
                negated = "not " if self.skip("not") else ""
                found = Written(f"({found.text} is {negated}{self._test()})")
        return found

    def _filter(self, found: Written) -> Written:
        name = self.name()
        if name not in FILTERS:
            raise TemplateRefused(f"there is no filter {name!r}; there are: {', '.join(sorted(FILTERS))}")
        arguments: list[str] = []
        if self.skip("("):
            arguments = self._items(")", self._literal_argument if name in LITERAL_ARGUMENTS else self._argument)
        first = arguments[0] if arguments else ""
        if name == "map" and "=" not in first and first[1:-1] not in MAPPED_FILTERS:
            raise TemplateRefused(f"map takes attribute='name', or one of: {', '.join(sorted(MAPPED_FILTERS))}")
        if name == "tojson" and not _SMALL_INDENT.fullmatch("".join(arguments)):
            raise TemplateRefused("tojson takes an indent of at most 8")
        if name in COUNTED:  # the engine makes texts of all, which also refuses undefined values
            arguments = [argument if "=" in argument else f"{argument}|string" for argument in arguments]
        call = f"{name}({', '.join(arguments)})" if arguments else name
        return Written(f"({found.text}{_BEFORE.get(name, '')}|{call}{'|_text' if name in CHECKED else ''})")

    def _test(self) -> str:
        name = self.name()
        if name not in TESTS:
            raise TemplateRefused(f"there is no test {name!r}; there are: {', '.join(sorted(TESTS))}")
        if self.skip("("):
            return f"{name}({', '.join(self._items(')', self._argument))})"
        token = self.next()
        if token.kind in ("number", "text") or (token.kind == "name" and token.text not in _KEYWORDS):
            return f"{name}({self._postfix(self._primary()).text})"
        return name

    def _items(self, end: str, item: Callable[[], str]) -> list[str]:
        found: list[str] = []
        while not self.skip(end):
            found.append(item())
            if not self.skip(",") and not self.sees(end):
                self.refuse()
        return found

    def _argument(self) -> str:
        if self.next().kind == "name" and self.tokens[self.at + 1 : self.at + 2] == [Token("sign", "=")]:
            name = self.name()
            self.at += 1
            return f"{name}={self.expression().text}"
        return self.expression().text

    def _literal_argument(self) -> str:
        if self.next().kind == "name" and self.tokens[self.at + 1 : self.at + 2] == [Token("sign", "=")]:
            name = self.name()
            self.at += 1
            return f"{name}={self._literal()}"
        return self._literal()

    def _literal(self) -> str:
        found = self.expression()
        if not found.literal:
            raise TemplateRefused("lists, objects and some arguments of a template hold literals only")
        return found.text

    def _pair(self) -> str:
        key = self._literal()
        self.expect(":")
        return f"{key}: {self._literal()}"

    def _left_to_right(self, operand: Callable[[], Written], sign: str) -> Written:
        parts = [operand()]
        while self.skip(sign):
            parts.append(operand())
        return parts[0] if len(parts) == 1 else Written("(" + f" {sign} ".join(part.text for part in parts) + ")")
