"""What a package needs to add a kind of action, or a provider of models.

Everything listed here is public, and documented in docs/how-to/plugins.md.
"""

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
from jeton.executor.models.client import Embeddings, ModelCall, ModelClient, ModelProblem, OnText, RequestFailed
from jeton.executor.models.clients import register_model_client
from jeton.executor.models.structured import asked_as_json
from jeton.executor.secrets import SecretRef
from jeton.model.chat import (
    AssistantMessage,
    CalledTool,
    ModelAnswer,
    ModelRequest,
    SystemMessage,
    TokenUsage,
    ToolMessage,
    UserMessage,
)
from jeton.model.definition.task import AsksInput
from jeton.model.json import Json, JsonObject
from jeton.model.note import CostNote, LogNote, ProgressNote
from jeton.model.state.phase import Continuation

__all__ = [
    "ActionCall",
    "ActionFailed",
    "ActionHandler",
    "ArtifactMissing",
    "ArtifactTooLarge",
    "AsksInput",
    "AssistantMessage",
    "CalledTool",
    "Continuation",
    "CostNote",
    "Embeddings",
    "Json",
    "JsonObject",
    "Kind",
    "KindProblem",
    "LaneName",
    "LogNote",
    "ModelAnswer",
    "ModelCall",
    "ModelClient",
    "ModelProblem",
    "ModelRequest",
    "OnText",
    "ProgressNote",
    "RequestFailed",
    "Resources",
    "SecretRef",
    "SystemMessage",
    "TokenUsage",
    "ToolMessage",
    "TransientError",
    "UserMessage",
    "asked_as_json",
    "register_kind",
    "register_model_client",
]
