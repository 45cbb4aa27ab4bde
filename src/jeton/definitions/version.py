"""Versions of definitions: a new version is one whose behaviour changed, not only its description."""

import hashlib
from collections.abc import Sequence
from functools import cache
from typing import TypeAlias, cast

import msgspec

from jeton.model.definition.agent import Agent, Persona, Prompt, Tool
from jeton.model.definition.flow import Flow
from jeton.model.definition.profile import ModelProfile
from jeton.model.definition.task import Action, Task
from jeton.model.definition.workflow import Workflow

ABOUT = ("name", "description", "tags")  # descriptions, which do not change behaviour
ABOUT_TOOL = ("name", "tags")  # a tool's description is what a model is told

_encoder = msgspec.json.Encoder(order="deterministic")


class Version(msgspec.Struct, frozen=True):
    """The version of a definition, and whether it is new."""

    number: int
    is_new: bool


Hashed: TypeAlias = Workflow | Flow | Task | Action | ModelProfile | Prompt | Tool | Persona | Agent


def definition_hash(definition: Hashed) -> str:
    """The SHA-256 hash of the definition as canonical JSON."""
    about = ABOUT_TOOL if isinstance(definition, Tool) else ABOUT
    plain = {key: value for key, value in _canonical_struct(definition).items() if key not in about}
    return hashlib.sha256(_encoder.encode(plain)).hexdigest()


_fields = cache(msgspec.structs.fields)  # it evaluates the type hints of a struct


def _canonical(value: object) -> object:
    match value:
        case msgspec.Struct():
            return _canonical_struct(value)
        case dict():
            return {key: _canonical(item) for key, item in cast("dict[str, object]", value).items()}
        case list() | tuple():
            return [_canonical(item) for item in cast("list[object]", value)]
        case _:
            return value


def _canonical_struct(value: msgspec.Struct) -> dict[str, object]:
    """The fields that differ from their defaults, so that a default written out does not change the hash.

    Compared by value, because msgspec's `omit_defaults` compares by identity.
    """
    found: dict[str, object] = {} if value.__struct_config__.tag is None else {"type": value.__struct_config__.tag}
    for field in _fields(type(value)):
        item = getattr(value, field.name)
        default = field.default_factory() if callable(field.default_factory) else field.default
        if item != default:
            found[field.encode_name] = _canonical(item)
    return found


def version_of(definition_hash: str, known: Sequence[str]) -> Version:
    """The version of a definition with this hash. `known`: the hashes of versions 1, 2, 3…."""
    if definition_hash in known:
        return Version(known.index(definition_hash) + 1, is_new=False)
    return Version(len(known) + 1, is_new=True)
