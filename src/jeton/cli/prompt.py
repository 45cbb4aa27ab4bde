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
        return _prompt(label, click.Choice(choices), schema, required)
    kind = schema.get("type")
    if kind == "boolean":
        return click.confirm(label, default=schema.get("default", None if required else False))
    if isinstance(kind, str) and kind in _TYPES:
        return _prompt(label, _TYPES[kind], schema, required)
    text = _prompt(f"{label}, as JSON", click.STRING, schema, required)
    return None if text is None else _parsed(str(text))


def _prompt(label: str, kind: click.ParamType[Any], schema: Mapping[str, Any], required: bool) -> Json:
    """Prompt until the text can be read; an empty text leaves out a value that is not required."""

    def read(text: Any) -> Any:
        return None if text == "" and not required else kind.convert(text, None, None)

    default = schema.get("default", None if required else "")
    return cast("Json", click.prompt(label, default=default, show_default=default != "", value_proc=read))


def _object(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _parsed(text: str) -> Json:
    """The JSON value; text that is not JSON is a string, so that words need no quotes."""
    try:
        return cast("Json", json.loads(text))
    except ValueError:
        return text
