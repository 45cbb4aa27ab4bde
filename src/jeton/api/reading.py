"""Reading requests: parameters and bodies into typed values. All problems of a request are reported at once."""

from collections.abc import Mapping
from functools import cache
from types import UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin
from urllib.parse import unquote_plus

import msgspec

from jeton.api.problems import Invalid
from jeton.engine.input import InputInvalid, read_value
from jeton.expression.schema import SchemaValidator, dotted_path
from jeton.model.failure import Refused
from jeton.model.json import Json, JsonObject

_T = TypeVar("_T", bound=msgspec.Struct)
CORRECT = "correct the request; nothing was changed"


def read_query(raw: bytes, kind: type[_T]) -> _T:
    """The parameters of a URL. One that is not known, or is there twice, is refused."""
    found: dict[str, str] = {}
    problems: list[JsonObject] = []
    fields = {field.encode_name for field in msgspec.structs.fields(kind)}
    for pair in raw.split(b"&") if raw else ():
        name, value = (unquote_plus(part.decode("latin-1")) for part in (*pair.split(b"=", 1), b"")[:2])
        if name not in fields:
            known = ", ".join(sorted(fields)) or "none"
            problems.append({"path": name, "problem": f"is no parameter here; there are: {known}"})
        elif name in found:
            problems.append({"path": name, "problem": "is there twice"})
        else:
            found[name] = value
    if problems:
        raise Invalid("bad_argument", tuple(problems), CORRECT)
    for field in msgspec.structs.fields(kind):
        name = field.encode_name
        if name not in found and field.required:
            problems.append(_at(name, "is missing"))
        elif name in found and (problem := _misread(found[name], field.type)) is not None:
            problems.append(_at(name, problem))
    if problems:
        raise Invalid("bad_argument", tuple(problems), CORRECT)
    return msgspec.convert(found, kind, strict=False)


def _misread(text: str, kind: Any) -> str | None:
    """Why a text is no value of a parameter's type; None if it is."""
    try:
        msgspec.convert(text, kind, strict=False)
    except msgspec.ValidationError:
        options = [option for option in (get_args(kind) if isinstance(kind, UnionType) else (kind,)) if option]
        named = next((get_args(option) for option in options if get_origin(option) is Literal), None)
        if named is not None:
            return f"must be one of {', '.join(map(str, named))}"
        return f"must be {'true or false' if bool in options else 'a whole number'}, and is '{text[:60]}'"
    return None


def read_body(body: bytes, kind: type[_T]) -> _T:
    """A JSON body as a value of this type."""
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise Refused("bad_json", f"the body is not UTF-8: {error}", CORRECT) from None
    if not text.strip():
        text = "{}"
    try:
        value = read_value(text, "body")
    except InputInvalid as error:
        raise Invalid("bad_json", tuple(_at(each.path, each.problem) for each in error.problems), CORRECT) from None
    return _typed(value, kind)


def _typed(value: Json, kind: type[_T]) -> _T:
    misfits = [_at(dotted_path("body", misfit.path), misfit.problem) for misfit in _validator(kind).misfits(value)]
    if misfits:
        raise Invalid("bad_argument", tuple(misfits), CORRECT)
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise Refused("bad_argument", str(error), CORRECT) from None


def _at(path: str, problem: str) -> JsonObject:
    return {"path": path, "problem": problem}


@cache
def _validator(kind: type[msgspec.Struct]) -> SchemaValidator:
    schema: Any = _telling(msgspec.json.schema(kind))
    return SchemaValidator(schema)


def _telling(schema: Json) -> Json:
    """The schema with what may also be null written so that a misfit is told as one of the type that is not null."""
    if isinstance(schema, list):
        return [_telling(value) for value in schema]
    if not isinstance(schema, dict):
        return schema
    options = schema.get("anyOf")
    if not isinstance(options, list) or len(options) != 2 or options[1] != {"type": "null"}:
        return {key: _telling(value) for key, value in schema.items()}
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    return {**rest, "if": {"type": "null"}, "else": _telling(options[0])}


def header_values(headers: list[tuple[bytes, bytes]]) -> Mapping[str, str]:
    """Headers by name; of one that is there twice, the values joined by commas."""
    found: dict[str, str] = {}
    for name, value in headers:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = f"{found[key]},{text}" if key in found else text
    return found
