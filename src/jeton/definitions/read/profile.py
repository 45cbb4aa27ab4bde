"""Model profiles: plain data into the model."""

import re
from urllib.parse import SplitResult, urlsplit

import msgspec

from jeton.definitions.read.action import read_retry
from jeton.definitions.read.fields import Fields, fields_of
from jeton.definitions.read.location import SourceLocation
from jeton.definitions.read.script import ScriptSource, read_script
from jeton.definitions.report import Report, shown
from jeton.model.definition.profile import HIGHEST_PRICE, TOKENS_PER_PRICE, ModelProfile, Prices
from jeton.model.json import Json

KEYS = (
    "provider", "model", "parameters", "prices", "description", "base_url", "api_key", "context_window", "accepts",
    "timeout_ms", "retry_policy", "fallbacks", "background", "script",
)  # fmt: skip
PRICED = ("input", "output")
HINTS = {
    "name": "remove it: the key above is the name",
    "retry": "write 'retry_policy'",
    "temperature": "write it in 'parameters'",
    "max_tokens": "write it in 'parameters'",
    "url": "write 'base_url'",
}
ONLY_WITH = {"background": "openai_responses", "script": "scripted"}  # keys that one provider alone understands
MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]*/(\*|[a-z0-9][a-z0-9!#$&^_.+-]*)", re.IGNORECASE)


class ProfileSource(msgspec.Struct, frozen=True):
    """A model profile, its location, and the locations of its script's entries."""

    profile: ModelProfile
    location: SourceLocation
    script: ScriptSource = ScriptSource()


def read_profile(value: Json, location: SourceLocation, report: Report) -> ProfileSource:
    """Read a profile. Prices are whole credits per million tokens."""
    fields = fields_of(value, location, report, KEYS, "a model profile", HINTS)
    if fields is None:
        return ProfileSource(ModelProfile(""), location)
    fields.require("provider")
    provider = fields.text("provider") or ""
    _check_provider(provider, fields)
    script = read_script(fields)
    profile = ModelProfile(
        provider=provider,
        model=fields.text("model"),
        parameters=fields.object("parameters") or {},
        prices=_prices(fields),
        description=fields.text("description"),
        base_url=_base_url(fields),
        api_key=_secret(fields, "api_key"),
        context_window=fields.integer("context_window", at_least=1),
        accepts=_accepts(fields),
        timeout_ms=fields.integer("timeout_ms", at_least=1),
        retry_policy=read_retry(fields, "retry_policy"),
        fallbacks=fields.texts("fallbacks"),
        background=fields.flag("background", default=False),
        script=script.entries,
    )
    return ProfileSource(profile, location, script)


def _check_provider(provider: str, fields: Fields) -> None:
    """Report keys that belong to another provider, and a scripted profile without a script."""
    for key, only in ONLY_WITH.items():
        if provider and provider != only and key in fields:
            problem = f"'{key}' belongs to the provider '{only}', and this one is {shown(provider)}"
            fields.report.error(fields.location(key), "key_without_target", problem, "remove it")
    if provider == "scripted":
        fields.require("script")


def _base_url(fields: Fields) -> str | None:
    url = fields.text("base_url")
    if url is None:
        return None
    parts = _http_url(url)
    if parts is None:
        fields.wrong("base_url", "an http or https URL", "write one, such as 'http://127.0.0.1:8080/v1'")
    elif parts.username is not None or parts.password is not None:
        problem, remedy = "has a password, and a secret has no place in a definition", "write 'api_key: {secret: …}'"
        fields.report.error(fields.location("base_url"), "secret_in_definition", problem, remedy)
    return url


def _http_url(url: str) -> SplitResult | None:
    """The parts of a URL that paths can be added to; None if it is none."""
    try:
        parts = urlsplit(url)
        has_port = parts.port is None or parts.port > 0
    except ValueError:
        return None
    plain = not parts.query and not parts.fragment and not any(letter.isspace() for letter in url)
    return parts if parts.scheme in ("http", "https") and parts.hostname and has_port and plain else None


def _secret(fields: Fields, key: str) -> str | None:
    """The name in `{secret: NAME}`."""
    if isinstance(fields.value(key), str):
        problem = "is a text, and a secret has no place in a definition"
        fields.report.error(fields.location(key), "secret_in_definition", problem, f"write '{key}: {{secret: NAME}}'")
        return None
    inner = fields.inner(key, ("secret",), f"'{key}'")
    if inner is None or not inner.require("secret"):
        return None
    return inner.name("secret")


def _accepts(fields: Fields) -> tuple[str, ...]:
    accepted = fields.texts("accepts")
    for index, media_type in enumerate(fields.list("accepts") or []):
        if isinstance(media_type, str) and not MEDIA_TYPE.fullmatch(media_type):
            problem = f"{shown(media_type)} is not a media type"
            remedy = "write one, such as 'application/pdf' or 'image/*'"
            fields.report.error(fields.location("accepts") / index, "unknown_value", problem, remedy)
    return accepted


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
