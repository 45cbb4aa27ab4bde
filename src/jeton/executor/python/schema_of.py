"""JSON Schema from types written in Python.

msgspec knows dataclasses, TypedDicts, its own Structs and the plain types. Pydantic models are recognised by what they
can do, so that pydantic is never imported here: whoever has such a model has imported it.
"""

from typing import Any, Protocol, TypeGuard, cast

import msgspec

from jeton.model.json import Json, JsonObject, Schema

PLAIN_DATA = "a dataclass, TypedDict, msgspec Struct, pydantic model or plain type"
DEFS = "#/$defs/"
DATA = ("const", "default", "enum", "examples")  # what stands here is no schema

REFERENCE: Schema = {
    "type": "object",
    "required": ["id", "media_type", "size"],
    "properties": {"id": {"type": "string"}, "media_type": {"type": "string"}, "size": {"type": "integer"}},
}
"""An artifact, as a run's state knows it."""


class PydanticModel(Protocol):
    """What we use of a pydantic model."""

    @classmethod
    def model_json_schema(cls, *, ref_template: str = ...) -> dict[str, Any]: ...
    @classmethod
    def model_validate(cls, obj: object) -> object: ...
    def model_dump(self, *, mode: str = ...) -> object: ...


def is_pydantic(hint: object) -> TypeGuard[type[PydanticModel]]:
    """Whether it is a pydantic model class."""
    return isinstance(hint, type) and hasattr(hint, "model_json_schema") and hasattr(hint, "model_validate")


def schema_of(hint: object) -> Schema:
    """The schema of a type, as an author would write it; a TypeError says which part of the type has none."""
    (schema,), parts = msgspec.json.schema_components(
        [hint], schema_hook=_pydantic_schema, ref_template=DEFS + "{name}"
    )
    return _Inliner(parts).whole(schema)


def _pydantic_schema(hint: type) -> dict[str, Any]:
    if is_pydantic(hint):
        return hint.model_json_schema(ref_template=DEFS + "{model}")
    raise NotImplementedError


def _or_reference(schema: JsonObject) -> JsonObject:
    """Bytes, as text or as an artifact. What is said about the place stays outside."""
    about: JsonObject = {key: schema.pop(key) for key in ("default", "description", "examples") if key in schema}
    return {"anyOf": [schema, REFERENCE], **about}


class _Inliner:
    """Puts every part where it is used: what reads schemas, to check a path or lay out a table, follows no references.

    Only a type that contains itself stays a part, because there is no other way to write it.
    """

    def __init__(self, parts: dict[str, Any]) -> None:
        self._parts = parts
        self._kept: dict[str, Json] = {}

    def whole(self, schema: dict[str, Any]) -> Schema:
        inlined = cast("JsonObject", self._inlined(schema, ()))
        return {**inlined, "$defs": self._kept} if self._kept else inlined

    def _inlined(self, schema: Any, around: tuple[str, ...]) -> Json:
        match schema:
            case dict():
                return self._object(cast("dict[str, Any]", schema), around)
            case list():
                return [self._inlined(item, around) for item in cast("list[object]", schema)]
            case _:
                return cast("Json", schema)

    def _object(self, schema: dict[str, Any], around: tuple[str, ...]) -> JsonObject:
        self._parts.update(schema.get("$defs", {}))
        reference = schema.get("$ref")
        found: JsonObject = {}
        if isinstance(reference, str):
            name = reference.removeprefix(DEFS)
            if name in around:
                self._keep(name)
                found["$ref"] = reference
            else:
                found.update(self._object(self._parts[name], (*around, name)))
        for key, value in schema.items():
            if key in DATA:
                found[key] = value
            elif key == "properties":
                found[key] = {name: self._inlined(below, around) for name, below in value.items()}
            elif key not in ("$ref", "$defs") and not (key == "title" and isinstance(value, str)):
                found[key] = self._inlined(value, around)
        return _or_reference(found) if found.get("contentEncoding") == "base64" else found

    def _keep(self, name: str) -> None:
        if name not in self._kept:
            self._kept[name] = None  # it will be asked for again while it is made
            self._kept[name] = self._object(self._parts[name], (name,))
