"""What a package needs to add a kind of action. Everything listed here is public, and documented in docs/plugins.md."""

from jeton.executor.action import (
    ActionCall,
    ActionFailed,
    ActionHandler,
    Kind,
    KindProblem,
    LaneName,
    Resources,
    TransientError,
)
from jeton.executor.actions import register_kind
from jeton.executor.artifacts import ArtifactMissing, ArtifactTooLarge
from jeton.executor.secrets import SecretRef
from jeton.model.json import Json, JsonObject
from jeton.model.note import CostNote, LogNote, ProgressNote

__all__ = [
    "ActionCall",
    "ActionFailed",
    "ActionHandler",
    "ArtifactMissing",
    "ArtifactTooLarge",
    "CostNote",
    "Json",
    "JsonObject",
    "Kind",
    "KindProblem",
    "LaneName",
    "LogNote",
    "ProgressNote",
    "Resources",
    "SecretRef",
    "TransientError",
    "register_kind",
]
