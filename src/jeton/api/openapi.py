"""The OpenAPI 3.1 document, made from the table of routes."""

import re
from collections.abc import Sequence
from http import HTTPStatus
from importlib.metadata import version
from types import UnionType
from typing import Any, get_args

import msgspec

from jeton.api.listed import codes_of
from jeton.api.problems import TITLES, HttpProblem
from jeton.api.route import Answer, Call, Nothing, Route, route
from jeton.model.json import JsonObject

JSON_TYPE = "application/json"
PROBLEM_TYPE = "application/problem+json"
DESCRIPTION = (
    "Everything that the command line can do. A key goes into the Authorization header: `Bearer jtn_…`. "
    "Problems have a `code` that does not change; each answer lists those that it may have."
)
_PART = re.compile(r"{(\w+)}")


class OpenApi(msgspec.Struct, frozen=True):
    """The document."""

    openapi: str
    info: JsonObject
    paths: JsonObject
    components: JsonObject
    security: tuple[JsonObject, ...]


def with_document(routes: Sequence[Route]) -> tuple[Route, ...]:
    """The routes, and one more that answers with the document of them all."""
    made: list[OpenApi] = []

    async def openapi(call: Call[Nothing, Nothing]) -> Answer:
        """This document: OpenAPI 3.1."""
        if not made:
            made.append(document_of(everything))
        return Answer(msgspec.to_builtins(made[0]))

    own = route("GET", "/openapi.json", "read", openapi, {200: OpenApi}, query=Nothing, body=Nothing)
    at_the_root = msgspec.structs.replace(own, path="/openapi.json", name="openapi_at_the_root")
    everything = (*routes, own, at_the_root)
    return everything


def document_of(routes: Sequence[Route]) -> OpenApi:
    """The document of these routes."""
    types = [HttpProblem, *(kind for each in routes for kind in _types(each))]
    found, components = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    schemas = dict(zip(map(str, types), found, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for each in routes:
        paths.setdefault(each.path, {})[each.method.lower()] = _operation(each, schemas)
    return OpenApi(
        openapi="3.1.0",
        info={"title": "jeton", "version": version("jeton"), "description": DESCRIPTION},
        paths=dict(paths),
        components={
            "schemas": components,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer", "bearerFormat": "jtn_…"}},
        },
        security=({"key": []},),
    )


def _types(each: Route) -> list[Any]:
    answers = [kind for kind in each.answers.values() if kind is not None and kind is not bytes]
    return [*(one for kind in answers for one in _options(kind)), *(() if each.body is None else (each.body,))]


def _options(kind: Any) -> tuple[Any, ...]:
    """The types of a union, or the one type."""
    return get_args(kind) if isinstance(kind, UnionType) else (kind,)


def _operation(each: Route, schemas: dict[str, Any]) -> JsonObject:
    responses: dict[str, Any] = {str(status): _answer(status, kind, schemas) for status, kind in each.answers.items()}
    for status, codes in codes_of(each).items():
        listed = {"properties": {"code": {"enum": list(codes)}}}
        schema = {"allOf": [schemas[str(HttpProblem)], listed]}
        described = f"{TITLES[status]}: {', '.join(f'`{code}`' for code in codes)}"
        responses[str(status)] = {"description": described, "content": {PROBLEM_TYPE: {"schema": schema}}}
    operation: JsonObject = {
        "operationId": each.name,
        "summary": each.summary,
        "parameters": [*_path_parameters(each), *_query_parameters(each)],
        "responses": responses,
        "x-scopes": list(each.scopes),
    }
    if each.binary:
        content: JsonObject = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
        operation["requestBody"] = {"required": True, "content": content}
    elif each.body is not None:
        required = any(field.required for field in msgspec.structs.fields(each.body))
        operation["requestBody"] = {"required": required, "content": {JSON_TYPE: {"schema": schemas[str(each.body)]}}}
    return operation


def _answer(status: int, kind: Any, schemas: dict[str, Any]) -> JsonObject:
    described: JsonObject = {"description": HTTPStatus(status).phrase}
    if kind is bytes:
        return {**described, "content": {"*/*": {"schema": {"type": "string", "format": "binary"}}}}
    if kind is None:
        return described if status == 204 else {**described, "content": {"text/event-stream": {}}}
    headers: JsonObject = {}
    if status == 201:
        headers["Location"] = {"description": "What was made, if it has an address.", "schema": {"type": "string"}}
    options = [schemas[str(one)] for one in _options(kind)]
    schema: Any = options[0] if len(options) == 1 else {"anyOf": options}
    return {**described, "headers": headers, "content": {JSON_TYPE: {"schema": schema}}}


def _path_parameters(each: Route) -> list[JsonObject]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for name in _PART.findall(each.path)
    ]


def _query_parameters(each: Route) -> list[JsonObject]:
    schema: dict[str, Any] = msgspec.json.schema(each.query)["$defs"][each.query.__name__]
    required: list[str] = schema.get("required", [])
    return [
        {"name": name, "in": "query", "required": name in required, "schema": _not_null(found)}
        for name, found in schema["properties"].items()
    ]


def _not_null(schema: dict[str, Any]) -> JsonObject:
    """The schema of a parameter: one that is left out has no value, and none is null."""
    options = [option for option in schema.get("anyOf", ()) if option != {"type": "null"}]
    kept = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
    if len(options) == 1:
        return {**kept, **options[0]}
    default = {"default": schema["default"]} if schema.get("default") is not None else {}
    return {**kept, **default, **({"anyOf": options} if options else {})}
