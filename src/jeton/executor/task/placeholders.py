"""`{name}` in a text of an `implementation`: the only places where the input of a call has a say.

A name may be a path, `{order.id}`. `{{name}}` stands for itself, and a brace that belongs to no name is only a brace.
Filling is one pass: what is filled in is never looked at again.
"""

import re
from collections.abc import Callable

from jeton.model.json import Json, JsonObject, kind_of

_NAME = r"[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*"
_PLACEHOLDER = re.compile(r"\{\{(?P<literal>" + _NAME + r")\}\}|\{(?P<name>" + _NAME + r")\}")
_URL = re.compile(r"(?P<scheme>[^:/?#]*)://(?P<authority>[^/?#]*)(?P<rest>.*)", re.DOTALL)


class PlaceholderError(Exception):
    """The input lacks what a placeholder asks for, or has something there that does not fit."""


def names_in(text: str) -> tuple[str, ...]:
    """What a text asks of the input, in order."""
    return tuple(found["name"] for found in _PLACEHOLDER.finditer(text) if found["name"])


def whole_name(text: str) -> str | None:
    """What a text asks of the input, if it is one placeholder and nothing else."""
    whole = _PLACEHOLDER.fullmatch(text)
    return None if whole is None else whole["name"]


def literal_text(text: str) -> str:
    """A text that asks for nothing, as it is meant: `{{name}}` stands for `{name}`."""
    return _PLACEHOLDER.sub(lambda found: f"{{{found['literal']}}}" if found["literal"] else found[0], text)


def filled_text(text: str, given: Json, encode: Callable[[str], str] = str) -> str:
    """The text with every placeholder filled, each value passed through `encode`."""

    def fill(found: re.Match[str]) -> str:
        return f"{{{found['literal']}}}" if found["literal"] else encode(_scalar(found["name"], given))

    return _PLACEHOLDER.sub(fill, text)


def filled(value: Json, given: Json) -> Json:
    """The value with its texts filled; a text that is one placeholder becomes what the input has there, whole."""
    match value:
        case str():
            name = whole_name(value)
            return filled_text(value, given) if name is None else value_at(name, given)
        case list():
            return [filled(item, given) for item in value]
        case dict():
            made: JsonObject = {key: filled(item, given) for key, item in value.items()}
            return made
        case _:
            return value


def value_at(name: str, given: Json) -> Json:
    """What the input has at a name."""
    for key in name.split("."):
        if not isinstance(given, dict) or key not in given:
            raise PlaceholderError(f"'{{{name}}}' needs '{name}', and the input has none")
        given = given[key]
    return given


def plain_text(value: Json) -> str | None:
    """A text, number or boolean as text; nothing else has one form that everybody expects."""
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
    """What is wrong with the url of an `implementation`, and what to do; nothing a call fills in may move its host."""
    parts = _URL.fullmatch(url)
    if parts is None or parts["scheme"].lower() not in ("http", "https") or not parts["authority"]:
        return "is no http or https address", "write it whole: https://host/path"
    if "@" in parts["authority"]:
        return "has a user name in it", "write 'auth: {basic: …}' with a secret instead"
    if "{" in parts["authority"] or "%" in parts["authority"]:
        return "has a host that is not fixed", "write the host out: input may fill the path and the query only"
    if "\\" in url or any(character.isspace() or not character.isprintable() for character in url):
        return "has a space, a backslash or a control character in it", "write %20 for a space"
    if "#" in url:
        return "has a fragment, which is never sent", "leave out what follows '#'"
    if any(segment in (".", "..") for segment in parts["rest"].partition("?")[0].split("/")):
        return "has '.' or '..' in its path", "write the path that is meant"
    return None


def _scalar(name: str, given: Json) -> str:
    value = value_at(name, given)
    text = plain_text(value)
    if text is None:
        raise PlaceholderError(f"'{{{name}}}' takes a text, a number or a boolean, and the input has {kind_of(value)}")
    return text
