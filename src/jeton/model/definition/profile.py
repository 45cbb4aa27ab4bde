"""A model by name: who serves it, which one it is, and what its tokens cost."""

import msgspec

from jeton.model.json import JsonObject

TOKENS_PER_PRICE = 1_000_000
MOST_TOKENS = 10**9  # of one call; at the highest price, what they cost still fits 64 bits
HIGHEST_PRICE = 10**9


class Prices(msgspec.Struct, frozen=True, omit_defaults=True):
    """Whole credits for a million tokens. So a token costs whole millionths, and nothing is rounded early."""

    input: int = 0
    output: int = 0

    def millionths(self, input: int, output: int) -> int:
        """What so many tokens cost, in millionths of a credit."""
        return input * self.input + output * self.output


class ModelProfile(msgspec.Struct, frozen=True, omit_defaults=True):
    """As a library file has it. Without prices its tokens are counted, and cost nothing."""

    provider: str
    model: str | None = None
    parameters: JsonObject = {}
    prices: Prices | None = None
    description: str | None = None


def whole_credits(millionths: int) -> int:
    """Rounded up: a part of a credit is a credit."""
    return -(-millionths // TOKENS_PER_PRICE)
