"""Real providers. Their libraries are large, so they are imported in a thread when one of their models is called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jeton.executor.models.client import Embeddings, ModelCall, ModelProblem, OnText
from jeton.model.chat import ModelAnswer

if TYPE_CHECKING:
    from jeton.executor.models.providers.speak import Speech

PROVIDERS = ("openai", "openai_responses", "anthropic", "google")


class RealClient:
    """Speaks with one of the providers that pydantic-ai knows."""

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._speech: Speech | None = None

    def load(self) -> None:
        from jeton.executor.models.providers.load import load

        self._speech = load(self._provider)

    async def generate(self, call: ModelCall, on_text: OnText) -> ModelAnswer:
        return await self._loaded.generate(call, on_text)

    async def embed(self, call: ModelCall, texts: Sequence[str]) -> Embeddings:
        return await self._loaded.embed(call, texts)

    def problem_of(self, error: Exception) -> ModelProblem | None:
        return self._loaded.problem_of(error)

    async def close(self) -> None:
        if self._speech is not None:
            await self._speech.close()

    @property
    def _loaded(self) -> Speech:
        if self._speech is None:
            raise RuntimeError("the client is not loaded")
        return self._speech
