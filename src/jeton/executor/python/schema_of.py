"""Make JSON Schemas from Python types.

msgspec handles dataclasses, TypedDicts, its own Structs and the plain types. Pydantic models are recognised by their
methods, so that pydantic need not be imported here.
"""

from typing import Any, Protocol, TypeGuard, cast

import msgspec

from jeton.model.json import Json, JsonObject, Schema

PLAIN_DATA = "a dataclass, TypedDict, msgspec Struct, pydantic model or plain type"
DEFS = "#/$defs/"
CLOSED = "x-closed"  # reading a field that the type does not have is a mistake; values may have more
DATA = ("const", "default", "enum", "examples")  # keywords whose values are not schemas

REFERENCE: Schema = {
    "type": "object",
    "required": ["id", "media_type", "size"],
    "properties": {"id": {"type": "string"}, "media_type": {"type": "string"}, "size": {"type": "integer"}},
}
"""The schema of a reference to an artifact."""


class PydanticModel(Protocol):
    """The methods of a pydantic model that are used here."""

    @classmethod
    def model_json_schema(cls, *, ref_template: str = ...) -> dict[str, Any]: ...
    @classmethod
    def model_validate(cls, obj: object) -> object: ...
    def model_dump(self, *, mode: str = ...) -> object: ...


def is_pydantic(hint: object) -> TypeGuard[type[PydanticModel]]:
    """Whether a type is a pydantic model."""
    return isinstance(hint, type) and hasattr(hint, "model_json_schema") and hasattr(hint, "model_validate")


def schema_of(hint: object) -> Schema:
    """The schema of a type. Raises TypeError, naming the part of the type that has none."""
    (schema,), definitions = msgspec.json.schema_components(
        [hint], schema_hook=_pydantic_schema, ref_template=DEFS + "{name}"
    )
    return _Inliner(definitions).inline(schema)


def _pydantic_schema(hint: type) -> dict[str, Any]:
    if is_pydantic(hint):
        return hint.model_json_schema(ref_template=DEFS + "{model}")
    raise NotImplementedError


def _or_reference(schema: JsonObject) -> JsonObject:
    """Allow bytes as base64 text or as an artifact. Annotations stay outside the alternatives."""
    annotations: JsonObject = {key: schema.pop(key) for key in ("default", "description", "examples") if key in schema}
    return {"anyOf": [schema, REFERENCE], **annotations}


class _Inliner:
    """Inlines every definition where it is used, because those who check paths or lay out tables follow no references.

    Only a type that contains itself stays a definition, because it cannot be inlined.
    """

    def __init__(self, definitions: dict[str, Any]) -> None:
        self._definitions = definitions
        self._kept: dict[str, Json] = {}

    def inline(self, schema: dict[str, Any]) -> Schema:
        found = cast("JsonObject", self._inline(schema, ()))
        return {**found, "$defs": self._kept} if self._kept else found

    def _inline(self, schema: Any, enclosing: tuple[str, ...]) -> Json:
        match schema:
            case dict():
                return self._object(cast("dict[str, Any]", schema), enclosing)
            case list():
                return [self._inline(item, enclosing) for item in cast("list[object]", schema)]
            case _:
                return cast("Json", schema)

    def _object(self, schema: dict[str, Any], enclosing: tuple[str, ...]) -> JsonObject:
        self._definitions.update(schema.get("$defs", {}))
        reference = schema.get("$ref")
        found: JsonObject = {}
        if isinstance(reference, str):
            name = reference.removeprefix(DEFS)
            if name in enclosing:
                self._keep(name)
                found["$ref"] = reference
            else:
                found.update(self._object(self._definitions[name], (*enclosing, name)))
        for key, value in schema.items():
            if key in DATA:
                found[key] = value
            elif key == "properties":
                found[key] = {name: self._inline(below, enclosing) for name, below in value.items()}
            elif key not in ("$ref", "$defs") and not (key == "title" and isinstance(value, str)):
                found[key] = self._inline(value, enclosing)
        if "properties" in found and "additionalProperties" not in found:
            found[CLOSED] = True
        return _or_reference(found) if found.get("contentEncoding") == "base64" else found

    def _keep(self, name: str) -> None:
        if name not in self._kept:
            self._kept[name] = None  # a placeholder, because it refers to itself
            self._kept[name] = self._object(self._definitions[name], (name,))
