"""Model profiles: a provider, a model, and what its tokens cost."""

import msgspec

from jeton.model.json import JsonObject

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

    provider: str
    model: str | None = None
    parameters: JsonObject = {}
    prices: Prices | None = None
    description: str | None = None


def whole_credits(millionths: int) -> int:
    """Millionths as credits, rounded up."""
    return -(-millionths // TOKENS_PER_PRICE)
