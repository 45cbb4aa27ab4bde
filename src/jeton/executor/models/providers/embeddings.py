"""Vectors of texts."""

from collections.abc import Sequence
from typing import Any

import httpx2

from jeton.executor.models.client import Embeddings, ModelCall, ModelProblem, RequestFailed
from jeton.executor.models.providers.models import google_provider, openai_client
from jeton.model.chat import TokenUsage


async def embed(call: ModelCall, texts: Sequence[str], http: httpx2.AsyncClient) -> Embeddings:
    """The vectors of texts. Raises RequestFailed if the provider has none."""
    model = _embedding_model(call, http)
    found = await model.embed(list(texts), input_type="document")
    vectors = [[float(number) for number in vector] for vector in found.embeddings]
    return Embeddings(vectors, TokenUsage(found.usage.input_tokens))


def _embedding_model(call: ModelCall, http: httpx2.AsyncClient) -> Any:
    match call.profile.provider:
        case "openai" | "openai_responses":
            from pydantic_ai.embeddings.openai import OpenAIEmbeddingModel
            from pydantic_ai.providers.openai import OpenAIProvider

            provider = OpenAIProvider(openai_client=openai_client(call, http))
            return OpenAIEmbeddingModel(call.profile.model or "", provider=provider)
        case "google":
            from pydantic_ai.embeddings.google import GoogleEmbeddingModel

            return GoogleEmbeddingModel(call.profile.model or "", provider=google_provider(call, http))
        case provider:
            raise RequestFailed(ModelProblem("model_refused_request", f"the provider '{provider}' has no embeddings"))
