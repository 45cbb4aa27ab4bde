"""Gates as forms that MCP clients can show: objects with plain fields, and nothing else.

A gate may ask for anything. What is no such object is asked for as one field `value`, or, if its schema is not that of
a plain value, as one field `json` with a text.
"""

from typing import Literal, TypeAlias

import msgspec

from jeton.model.failure import Refused
from jeton.model.json import Json, JsonObject, Schema

FormKind: TypeAlias = Literal["fields", "value", "json"]
PLAIN = ("string", "number", "integer", "boolean")
LONGEST_SCHEMA = 2_000

_encode = msgspec.json.Encoder().encode


def form_of(schema: Schema | None) -> tuple[FormKind, Schema]:
    """How a gate is shown, and the schema of the form. Of several alternatives the first is, if it is a form."""
    choices = None if schema is None else schema.get("anyOf")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        kind, form = form_of(choices[0])
        if kind == "fields":
            return kind, form
    if schema is not None and schema.get("type") == "object" and _are_plain(schema.get("properties")):
        kept: Schema = {key: schema[key] for key in ("properties", "required", "title", "description") if key in schema}
        return "fields", {"type": "object", **kept}
    if schema is not None and _is_plain(schema):
        return "value", {"type": "object", "properties": {"value": schema}, "required": ["value"]}
    wanted = "" if not schema else f" that fits {_encode(schema).decode()[:LONGEST_SCHEMA]}"
    field: Schema = {"type": "string", "title": "JSON", "description": f"The answer as JSON{wanted}."}
    return "json", {"type": "object", "properties": {"json": field}, "required": ["json"]}


def answer_in(schema: Schema | None, content: JsonObject) -> Json:
    """The answer to a gate, in the content of its form. Raises Refused if it is no JSON."""
    match form_of(schema)[0]:
        case "fields":
            return content
        case "value":
            return content.get("value")
        case "json":
            try:
                found: Json = msgspec.json.decode(str(content.get("json", "")).encode())
            except msgspec.DecodeError as error:
                raise Refused("answer_refused", f"the answer is no JSON: {error}", "write JSON") from None
            return found


def _are_plain(properties: Json) -> bool:
    return isinstance(properties, dict) and all(isinstance(p, dict) and _is_plain(p) for p in properties.values())


def _is_plain(schema: Schema) -> bool:
    """Whether a field of a form can have the schema: one plain type, or a choice of texts."""
    if any(key in schema for key in ("$ref", "anyOf", "allOf", "not", "if", "pattern", "const")):
        return False
    choices = schema.get("enum")
    if isinstance(choices, list):
        return all(isinstance(choice, str) for choice in choices)
    return schema.get("type") in PLAIN
