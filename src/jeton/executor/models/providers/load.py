"""Import the libraries of a provider, and open its client."""

import importlib

from jeton.executor.models.providers.speak import Speech

MODULES = {
    "openai": ("pydantic_ai.models.openai", "pydantic_ai.providers.openai"),
    "openai_responses": ("pydantic_ai.models.openai", "pydantic_ai.providers.openai"),
    "anthropic": ("pydantic_ai.models.anthropic", "pydantic_ai.providers.anthropic"),
    "google": ("pydantic_ai.models.google", "pydantic_ai.providers.google"),
}


def load(provider: str) -> Speech:
    """Import what a provider needs. Raises ImportError."""
    for module in MODULES[provider]:
        importlib.import_module(module)
    return Speech()
