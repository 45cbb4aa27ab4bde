"""When a definition is a new version: when what it does has changed, and not when it is only described anew."""

import hashlib
from collections.abc import Sequence
from typing import cast

import msgspec

from jeton.model.definition.flow import Flow
from jeton.model.definition.profile import ModelProfile
from jeton.model.definition.task import Action, Task
from jeton.model.definition.workflow import Workflow

ABOUT = ("name", "description", "tags")  # what a definition says about itself, which changes nothing it does

_encoder = msgspec.json.Encoder(order="deterministic")


class Version(msgspec.Struct, frozen=True):
    """The version a definition has, and whether it is one nobody had seen."""

    number: int
    is_new: bool


def definition_hash(definition: Workflow | Flow | Task | Action | ModelProfile) -> str:
    """SHA-256 over the canonical JSON of the definition."""
    plain = {key: value for key, value in _canonical_struct(definition).items() if key not in ABOUT}
    return hashlib.sha256(_encoder.encode(plain)).hexdigest()


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
    """What differs from the defaults, so that writing one out, or giving the model a new one, changes nothing.

    Compared by value: msgspec's own `omit_defaults` compares by identity, which two equal texts need not have.
    """
    found: dict[str, object] = {} if value.__struct_config__.tag is None else {"type": value.__struct_config__.tag}
    for field in msgspec.structs.fields(value):
        item = getattr(value, field.name)
        default = field.default_factory() if callable(field.default_factory) else field.default
        if item != default:
            found[field.encode_name] = _canonical(item)
    return found


def version_of(definition_hash: str, known: Sequence[str]) -> Version:
    """`known` are the hashes of versions 1, 2, 3…: the same hash is the same version, a new one the next."""
    if definition_hash in known:
        return Version(known.index(definition_hash) + 1, is_new=False)
    return Version(len(known) + 1, is_new=True)
