"""The calls to the template library. No other module imports it."""

import re
from collections.abc import Callable
from typing import Any, Final, TypeVar

from minijinja import Environment, TemplateError, pass_state
from minijinja._lowlevel import State

from jeton.expression.templates.allowed import FUNCTIONS, TemplateRefused
from jeton.expression.templates.tags import rewrite

MAX_MADE: Final = 1_048_576
"""The bytes that a template may make on the way: what it writes, and every text that it puts together."""

_Function = TypeVar("_Function", bound=Callable[..., Any])

_WIDTH: Final = re.compile(r"[0-9]{4}|[*(]")


def compiled(source: str, fuel: int) -> tuple[Environment, str | None]:
    """The environment that renders a template, and what is wrong with the template."""
    environment = _environment(fuel)
    try:
        Environment(undefined_behavior="strict").add_template("template", source)
        environment.add_template("template", rewrite(source))
    except TemplateError as error:
        return environment, error.message
    except (TemplateRefused, RecursionError) as error:
        return environment, str(error)
    return environment, None


def undeclared(source: str) -> frozenset[str]:
    """The names that a valid template reads and does not set itself."""
    return frozenset(Environment().undeclared_variables_in_str(source)) - FUNCTIONS


def _environment(fuel: int) -> Environment:
    environment = Environment(undefined_behavior="strict", fuel=fuel, keep_trailing_newline=True)
    written: Callable[..., object] = _written
    environment.finalizer = written
    environment.add_filter("_text", _text)
    environment.add_filter("_format", _format)
    environment.add_filter("join", _joined)
    environment.add_filter("replace", _replaced)
    environment.add_filter("indent", _indented)
    environment.add_global("_join", _join)
    environment.add_global("_repeat", _repeat)
    return environment


def _charge(state: State, size: int) -> None:
    """Count bytes that are about to be made. Raises TemplateRefused past the bound."""
    made = state.get_temp("made", 0) + size
    if made > MAX_MADE:
        raise TemplateRefused(f"it makes more than {MAX_MADE:,} bytes on the way")
    state.set_temp("made", made)


def _length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else str(value)


def _with_state(function: _Function) -> _Function:
    """Let a function have the state of the rendering as its first argument, whatever the others are."""
    marked: Callable[[Any], Any] = pass_state
    marked(function)
    return function


@_with_state
def _written(state: State, value: object) -> object:
    """Count what is written, and leave the form to the engine."""
    _charge(state, _length(_as_text(value)))
    return NotImplemented


@_with_state
def _text(state: State, value: str) -> str:
    _charge(state, _length(value))
    return value


@_with_state
def _format(state: State, value: str) -> str:
    """Refuse widths that would fill memory."""
    if _WIDTH.search(value):
        raise TemplateRefused("format takes widths below 1,000, and no names")
    _charge(state, 1000 * value.count("%") + _length(value))
    return value


@_with_state
def _joined(state: State, items: list[str], between: str = "") -> str:
    _charge(state, sum(map(_length, items)) + _length(between) * len(items))
    return between.join(items)


@_with_state
def _replaced(state: State, text: str, old: str, new: str) -> str:
    _charge(state, _length(text) + text.count(old) * max(0, _length(new) - _length(old)))
    return text.replace(old, new)


@_with_state
def _indented(state: State, value: str, width: str = "4", first: str = "", blank: str = "") -> str:
    lines = value.split("\n")
    _charge(state, _length(value) + max(0, int(width)) * len(lines))
    pad, at_first, at_blank = " " * int(width), first == "True", blank == "True"
    made = [pad + line if (number or at_first) and (line or at_blank) else line for number, line in enumerate(lines)]
    return "\n".join(made)


@_with_state
def _join(state: State, *parts: object) -> str:
    texts = [part for part in parts if isinstance(part, str)]
    if len(texts) < len(parts):
        raise TemplateRefused("'+' takes numbers, or texts; write '~' to put a text and another value together")
    _charge(state, sum(map(_length, texts)))
    return "".join(texts)


@_with_state
def _repeat(state: State, one: object, other: object) -> str:
    text, times = (one, other) if isinstance(one, str) else (other, one)
    if not isinstance(text, str) or not isinstance(times, int) or times < 0:
        raise TemplateRefused("'*' takes numbers, or a text and an integer")
    _charge(state, _length(text) * times)
    return text * times
