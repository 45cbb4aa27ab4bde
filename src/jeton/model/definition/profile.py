"""Model profiles: a provider, a model, how it is called, and what its tokens cost."""

import msgspec

from jeton.model.definition.task import RetryPolicy
from jeton.model.json import JsonObject

DEFAULT_MODEL_RETRY = RetryPolicy(4, "exponential", 500, 30_000)

TOKENS_PER_PRICE = 1_000_000
MOST_TOKENS = 10**9  # of one call; at the highest price their cost still fits 64 bits
HIGHEST_PRICE = 10**9


class Prices(msgspec.Struct, frozen=True, omit_defaults=True):
    """Prices in credits per million tokens. A token costs whole millionths of a credit, so nothing is rounded early."""

    input: int = 0
    output: int = 0

    def millionths(self, input: int, output: int) -> int:
        """The cost of these tokens, in millionths of a credit."""
        return input * self.input + output * self.output


class ModelProfile(msgspec.Struct, frozen=True, omit_defaults=True):
    """A model profile. Without prices its tokens are counted and cost nothing."""

    provider: str  # openai, openai_responses, anthropic, google, scripted, or a plugin's
    model: str | None = None
    parameters: JsonObject = {}
    prices: Prices | None = None
    description: str | None = None
    base_url: str | None = None
    api_key: str | None = None  # the name of a secret
    context_window: int | None = None  # in tokens
    accepts: tuple[str, ...] = ()  # media types of attachments, such as image/*
    timeout_ms: int | None = None  # of one call
    retry_policy: RetryPolicy | None = None  # None: DEFAULT_MODEL_RETRY
    fallbacks: tuple[str, ...] = ()  # profiles that are tried, in order, when the retries are spent
    background: bool = False  # openai_responses: the answer is made there, and fetched
    script: tuple[JsonObject, ...] = ()  # scripted: the answers


def whole_credits(millionths: int) -> int:
    """Millionths as credits, rounded up."""
    return -(-millionths // TOKENS_PER_PRICE)
