"""Model profiles (`{provider, model, parameters, prices}`): plain data into the model."""

from jeton.definitions.read.fields import Fields, fields_of
from jeton.definitions.read.location import SourceLocation
from jeton.definitions.report import Report
from jeton.model.definition.profile import HIGHEST_PRICE, TOKENS_PER_PRICE, ModelProfile, Prices
from jeton.model.json import Json

KEYS = ("provider", "model", "parameters", "prices", "description")
PRICED = ("input", "output")


def read_profile(value: Json, location: SourceLocation, report: Report) -> ModelProfile:
    """Read a profile. Prices are whole credits per million tokens."""
    fields = fields_of(value, location, report, KEYS, "a model profile")
    if fields is None:
        return ModelProfile("")
    fields.require("provider")
    return ModelProfile(
        provider=fields.text("provider") or "",
        model=fields.text("model"),
        parameters=fields.object("parameters") or {},
        prices=_prices(fields),
        description=fields.text("description"),
    )


def _prices(fields: Fields) -> Prices | None:
    prices = fields.inner("prices", PRICED, "'prices'")
    if prices is None:
        return None
    return Prices(*(_price(prices, kind) for kind in PRICED))


def _price(prices: Fields, kind: str) -> int:
    price = prices.integer(kind, at_least=0) or 0
    if price > HIGHEST_PRICE:
        problem = f"is {price} credits for {TOKENS_PER_PRICE} tokens, and {HIGHEST_PRICE} is the most"
        prices.report.error(prices.location(kind), "out_of_range", problem, f"write {HIGHEST_PRICE} or less")
    return price
