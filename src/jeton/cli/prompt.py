"""Prompting for a value that a schema describes."""

import json
from collections.abc import Mapping
from typing import Any, cast

import click

from jeton.cli.output import echo, printable
from jeton.model.json import Json

_TYPES: dict[str, click.ParamType[Any]] = {"integer": click.INT, "number": click.FLOAT, "string": click.STRING}


def prompt_for(title: str, schema: object) -> Json:
    """Prompt for each property of an object, required ones first; for any other schema, prompt once.

    The answer is not checked here: the run does that."""
    echo(printable(title))
    fields = _object(schema)
    properties = _object(fields.get("properties"))
    if not properties:
        return _value("answer", fields, required=True)
    required: list[Any] = fields.get("required") or []
    answer: dict[str, Json] = {}
    for name, described in sorted(properties.items(), key=lambda each: each[0] not in required):
        value = _value(name, _object(described), required=name in required)
        if value is not None or name in required:
            answer[name] = value
    return answer


def _value(name: str, schema: Mapping[str, Any], *, required: bool) -> Json:
    """The value, or None if it was left out."""
    about = schema.get("description") or schema.get("title")
    label = printable(f"{name} ({about})" if about else name)
    choices: list[Any] = schema.get("enum") or []
    if choices and all(isinstance(each, str) for each in choices):
        return _choice(label, choices, schema, required)
    kind = schema.get("type")
    if kind == "boolean":
        return click.confirm(label, default=schema.get("default", None if required else False))
    if isinstance(kind, str) and kind in _TYPES:
        return _prompt(label, _TYPES[kind], schema, required)
    text = _prompt(f"{label}, as JSON", click.STRING, schema, required)
    return _parsed(text) if isinstance(text, str) else text


def _choice(label: str, choices: list[str], schema: Mapping[str, Any], required: bool) -> Json:
    """Prompt for one of the choices, which are shown and typed as they can be printed."""
    by_text = {printable(each): each for each in choices}
    chosen = _prompt(f"{label} ({', '.join(by_text)})", click.Choice(list(by_text)), schema, required)
    return by_text.get(chosen, chosen) if isinstance(chosen, str) else chosen  # a default is given as it is


def _prompt(label: str, kind: click.ParamType[Any], schema: Mapping[str, Any], required: bool) -> Json:
    """Prompt until the text can be read; an empty text leaves out a value that is not required.

    The default is shown as it can be printed, and is given as it is."""
    default = schema.get("default")
    shown = None if default is None else printable(default if isinstance(default, str) else json.dumps(default))

    def read(text: Any) -> Any:
        if text == "" and not required:
            return None
        return default if shown is not None and text == shown else kind.convert(text, None, None)

    given = shown if shown is not None else None if required else ""
    return cast("Json", click.prompt(label, default=given, show_default=given != "", value_proc=read))


def _object(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _parsed(text: str) -> Json:
    """The JSON value; text that is not JSON is a string, so that words need no quotes."""
    try:
        return cast("Json", json.loads(text))
    except ValueError:
        return text
