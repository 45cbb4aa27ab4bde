"""Placeholders: `{name}` in a text of an `implementation` is replaced by a value of the input.

A name may be a path, as in `{order.id}`. `{{name}}` is an escaped `{name}`, and any other brace stands for itself.
Replacing is one pass: inserted values are not searched for placeholders.
"""

import re
from collections.abc import Callable

from jeton.model.json import Json, JsonObject, kind_of

_NAME = r"[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*"
_PLACEHOLDER = re.compile(r"\{\{(?P<literal>" + _NAME + r")\}\}|\{(?P<name>" + _NAME + r")\}")
_URL = re.compile(r"(?P<scheme>[^:/?#]*)://(?P<authority>[^/?#]*)(?P<rest>.*)", re.DOTALL)


class PlaceholderError(Exception):
    """The input lacks the value of a placeholder, or has one that does not fit."""


def names_in(text: str) -> tuple[str, ...]:
    """The names of the placeholders in a text, in order."""
    return tuple(found["name"] for found in _PLACEHOLDER.finditer(text) if found["name"])


def whole_name(text: str) -> str | None:
    """The name, if the text is one placeholder and nothing else."""
    whole = _PLACEHOLDER.fullmatch(text)
    return None if whole is None else whole["name"]


def literal_text(text: str) -> str:
    """A text without placeholders, unescaped: `{{name}}` becomes `{name}`."""
    return _PLACEHOLDER.sub(lambda found: f"{{{found['literal']}}}" if found["literal"] else found[0], text)


def fill_text(text: str, given: Json, encode: Callable[[str], str] = str) -> str:
    """Replace the placeholders of a text, passing each value through `encode`."""

    def replace(found: re.Match[str]) -> str:
        return f"{{{found['literal']}}}" if found["literal"] else encode(_scalar(found["name"], given))

    return _PLACEHOLDER.sub(replace, text)


def fill(value: Json, given: Json) -> Json:
    """Replace the placeholders in all texts of a value. A text that is one placeholder becomes the value itself."""
    match value:
        case str():
            name = whole_name(value)
            return fill_text(value, given) if name is None else value_at(name, given)
        case list():
            return [fill(item, given) for item in value]
        case dict():
            made: JsonObject = {key: fill(item, given) for key, item in value.items()}
            return made
        case _:
            return value


def value_at(name: str, given: Json) -> Json:
    """The value of the input at a path. Raises PlaceholderError."""
    for key in name.split("."):
        if not isinstance(given, dict) or key not in given:
            raise PlaceholderError(f"'{{{name}}}' needs '{name}', which the input lacks")
        given = given[key]
    return given


def scalar_text(value: Json) -> str | None:
    """A string, number or boolean as text; None for other values, which have no obvious text."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case _:
            return None


def url_problem(url: str) -> tuple[str, str] | None:
    """The problem with a url in an `implementation`, and the remedy. Input must not be able to change the host."""
    parts = _URL.fullmatch(url)
    if parts is None or parts["scheme"].lower() not in ("http", "https") or not parts["authority"]:
        return "is not an http or https url", "write it in full: https://host/path"
    if "@" in parts["authority"]:
        return "contains a user name", "write 'auth: {basic: …}' with a secret instead"
    if "{" in parts["authority"] or "%" in parts["authority"]:
        return "has a host that is not fixed", "write the host out: placeholders are for the path and the query only"
    if "\\" in url or any(character.isspace() or not character.isprintable() for character in url):
        return "contains a space, a backslash or a control character", "write %20 for a space"
    if "#" in url:
        return "has a fragment, which is never sent", "remove what follows '#'"
    if any(segment in (".", "..") for segment in parts["rest"].partition("?")[0].split("/")):
        return "contains '.' or '..' in its path", "write the path without them"
    return None


def given_url(name: str, given: Json) -> str:
    """A whole url from input. Raises PlaceholderError unless it is a complete one, without a user name."""
    url = _scalar(name, given)
    problem = url_problem(url)
    if problem is not None:
        raise PlaceholderError(f"url: what '{{{name}}}' gives {problem[0]}")
    return url


def _scalar(name: str, given: Json) -> str:
    value = value_at(name, given)
    text = scalar_text(value)
    if text is None:
        raise PlaceholderError(
            f"'{{{name}}}' must be a string, a number or a boolean, and the input has {kind_of(value)}"
        )
    return text
