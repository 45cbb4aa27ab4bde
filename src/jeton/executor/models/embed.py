"""Vectors of texts, with retries and usage. There are no fallbacks: vectors of two models cannot be compared."""

from collections.abc import Sequence

from jeton.executor.action import ActionCall
from jeton.executor.models.ask import ask_client, ask_with_retries, report_tokens, unknown_profile
from jeton.executor.models.client import Embeddings, ModelProblem
from jeton.model.chat import ModelFailed, ModelRequest

MAX_TEXTS = 2_048  # in one call; no provider takes more


async def embed_texts(call: ActionCall, name: str, texts: Sequence[str]) -> Embeddings | ModelFailed:
    """A vector for each text, or why there are none."""
    profile = call.profiles.get(name)
    if profile is None:
        return unknown_profile(name, call)
    asked = 0

    async def ask() -> Embeddings | ModelProblem:
        nonlocal asked
        asked += 1
        request = ModelRequest(name, ())
        key = f"{call.call.idempotency_key}:{name}:embed"
        found = await ask_client(call, profile, request, key, lambda client, made: client.embed(made, texts))
        if isinstance(found, Embeddings) and len(found.vectors) != len(texts):
            return ModelProblem("model_error", f"{len(found.vectors)} vectors came for {len(texts)} texts")
        return found

    found = await ask_with_retries(call, profile, ask, lambda: asked)
    if isinstance(found, ModelProblem):
        return ModelFailed(found.type, found.message, found.transient, profile=name, requests=asked)
    report_tokens(call, name, profile, found.usage)
    return found
