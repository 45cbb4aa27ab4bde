"""Ask a person for a value that a schema describes."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import click

from jeton.cli.output import echo, printable

if TYPE_CHECKING:
    from jeton.model.json import Json

_TYPES: dict[str, click.ParamType[Any]] = {"integer": click.INT, "number": click.FLOAT, "string": click.STRING}


def prompt_for(title: str, schema: object) -> "Json":
    """One question for each property of an object, those that must be there first; else one for the whole value.

    The run checks the answer."""
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


def _value(name: str, schema: "Mapping[str, Any]", *, required: bool) -> "Json":
    """The value, or None for one that was left out."""
    about = schema.get("description") or schema.get("title")
    label = printable(f"{name} ({about})" if about else name)
    choices: list[Any] = schema.get("enum") or []
    if choices and all(isinstance(each, str) for each in choices):
        return _asked(label, click.Choice(choices), schema, required)
    kind = schema.get("type")
    if kind == "boolean":
        return click.confirm(label, default=schema.get("default", None if required else False))
    if isinstance(kind, str) and kind in _TYPES:
        return _asked(label, _TYPES[kind], schema, required)
    text = _asked(f"{label}, as JSON", click.STRING, schema, required)
    return None if text is None else _parsed(str(text))


def _asked(label: str, kind: "click.ParamType[Any]", schema: "Mapping[str, Any]", required: bool) -> "Json":
    """Asked again until it can be read; nothing is an answer too, where one may be left out."""

    def read(text: Any) -> Any:
        return None if text == "" and not required else kind.convert(text, None, None)

    default = schema.get("default", None if required else "")
    return cast("Json", click.prompt(label, default=default, show_default=default != "", value_proc=read))


def _object(value: object) -> "Mapping[str, Any]":
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _parsed(text: str) -> "Json":
    """What is no JSON is meant as text: nobody at a terminal should have to quote a word."""
    try:
        return cast("Json", json.loads(text))
    except ValueError:
        return text
