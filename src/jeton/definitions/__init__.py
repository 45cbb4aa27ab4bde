"""Definitions: YAML, JSON or Python values into the model, with problems that name the line."""

from jeton.definitions.checks.implementations import ActionKinds
from jeton.definitions.load import Loaded, library_from, library_of_texts, load_library
from jeton.definitions.version import Version, definition_hash, version_of

__all__ = [
    "ActionKinds", "Loaded", "Version", "definition_hash", "library_from", "library_of_texts", "load_library",
    "version_of",
]  # fmt: skip
