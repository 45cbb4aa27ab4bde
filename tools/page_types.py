"""The document that the page's TypeScript types are made from: the OpenAPI document as a client of ours reads it."""

import json
from collections.abc import Iterator
from types import UnionType
from typing import Any, get_args

import msgspec

from jeton.api.openapi import document_of
from jeton.api.routes.table import ROUTES


def document_text() -> str:
    """The document, without the problems of each route (they are all alike) and with required answers.

    Answers carry every field, also one that has a default, unless their type says that defaults are left out. Bodies of
    requests need not."""
    document: dict[str, Any] = msgspec.to_builtins(document_of(ROUTES))
    for path in document["paths"].values():
        for operation in path.values():
            operation["responses"] = {code: each for code, each in operation["responses"].items() if code < "300"}
    required = _always_there()
    for name, schema in document["components"]["schemas"].items():
        if name in required:
            schema["required"] = [field for field in schema["properties"] if field in required[name]]
    document["info"]["version"] = "1"  # a release changes no type
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _always_there() -> dict[str, set[str]]:
    """The fields that answers always have, by the name of their type."""
    found: dict[str, set[str]] = {}
    kinds = [kind for each in ROUTES for kind in each.answers.values() if kind is not None and kind is not bytes]
    options = [one for kind in kinds for one in (get_args(kind) if isinstance(kind, UnionType) else (kind,))]
    for info in msgspec.inspect.multi_type_info(options):
        for struct in _structs(info, set()):
            if not struct.cls.__struct_config__.omit_defaults:
                fields = {field.encode_name for field in struct.fields if field.default is not msgspec.UNSET}
                found[struct.cls.__name__] = fields
    return found


def _structs(info: Any, seen: set[type]) -> Iterator[msgspec.inspect.StructType]:
    """All types of objects within a type."""
    if isinstance(info, msgspec.inspect.StructType):
        if info.cls in seen:
            return
        seen.add(info.cls)
        yield info
        for field in info.fields:
            yield from _structs(field.type, seen)
    for name in ("types", "item_types"):
        for inner in getattr(info, name, ()):
            yield from _structs(inner, seen)
    for name in ("item_type", "value_type"):
        if (inner := getattr(info, name, None)) is not None:
            yield from _structs(inner, seen)
