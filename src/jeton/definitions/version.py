"""When a definition is a new version: when what it does has changed, and not when it is only described anew."""

import hashlib
from collections.abc import Sequence
from typing import cast

import msgspec

from jeton.model.json import Json
from jeton.model.task import Action, Task
from jeton.model.workflow import Workflow

ABOUT = ("name", "description", "tags")  # what a definition says about itself, which changes nothing it does

_encoder = msgspec.json.Encoder(order="deterministic")


class Version(msgspec.Struct, frozen=True):
    """The version a definition has, and whether it is one nobody had seen."""

    number: int
    is_new: bool


def definition_hash(definition: Workflow | Task | Action) -> str:
    """SHA-256 over the canonical JSON of the definition. Defaults are left out, so writing one out changes nothing."""
    plain = cast("dict[str, Json]", msgspec.to_builtins(definition))
    return hashlib.sha256(_encoder.encode({k: v for k, v in plain.items() if k not in ABOUT})).hexdigest()


def version_of(definition_hash: str, known: Sequence[str]) -> Version:
    """`known` are the hashes of versions 1, 2, 3…: the same hash is the same version, a new one the next."""
    if definition_hash in known:
        return Version(known.index(definition_hash) + 1, is_new=False)
    return Version(len(known) + 1, is_new=True)
