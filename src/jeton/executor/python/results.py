"""What a function gives back, as JSON: by the same rules as a run's input, because it is kept in the same places."""

from types import MappingProxyType
from typing import cast

import msgspec

from jeton.executor.python.schema_of import PLAIN_DATA, PydanticModel, is_pydantic
from jeton.model.json import Json
from jeton.model.storable import DEEPEST, TOO_DEEP, Flaws, storable

MOST_FLAWS = 5
DIGITS = 19  # a number with fewer fits 64 bits

_ZEROES = bytes.maketrans(b"123456789", b"0" * 9)
_LONG_NUMBER = b"0" * DIGITS


class BadResult(ValueError):
    """What was given back cannot be kept: where, and why. It fails its task as `bad_result`."""


def plain(value: object, name: str = "result") -> Json:
    """The value as JSON would have it, sharing nothing with what the function keeps."""
    try:
        body = encoded(value)
        found: Json = _decode(body)
    except RecursionError:
        raise BadResult(f"{name} {TOO_DEEP}") from None
    except ValueError:  # half characters, or thousands of digits
        _refuse_flaws(value, name)
        raise
    if b"null" in body and value is not None and builtins_of(value) != found:  # nan and infinity are null in JSON
        _refuse_flaws(value, name)
    if len(body) >= DIGITS:  # in fewer bytes nothing is too large, nor too deep
        check_bounds(found, body, name)
    return found


def check_bounds(value: Json, body: bytes, name: str) -> None:
    """Raises BadResult for numbers that are too large and nesting that is too deep in what `body` is the JSON of.

    The bytes tell at once that most values are within the bounds; only the others are walked through."""
    long_number = _LONG_NUMBER in body.translate(_ZEROES)
    if long_number or (body.count(b"[") + body.count(b"{") > DEEPEST and _is_deep(value)):
        _refuse_flaws(value, name)


def _is_deep(value: Json) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        inner = [each.values() if type(each) is dict else cast("list[Json]", each) for each in level]
        level = [item for items in inner for item in items if type(item) is dict or type(item) is list]
        if not level:
            return False
    return True


def _refuse_flaws(value: object, name: str) -> None:
    flaws: Flaws = []
    storable(builtins_of(value), name, flaws)
    if flaws:
        more = f"; and {len(flaws) - MOST_FLAWS} more" if len(flaws) > MOST_FLAWS else ""
        raise BadResult("; ".join(f"{path}: {problem}" for path, problem in flaws[:MOST_FLAWS]) + more)


def builtins_of(value: object, left: tuple[type, ...] = ()) -> Json:
    """The value as plain Python data that shares nothing with it, not judged yet; `left` are left as they are."""
    return cast("Json", msgspec.to_builtins(value, builtin_types=left, str_keys=True, enc_hook=_enc_hook))


def _enc_hook(value: object) -> object:
    if is_pydantic(type(value)):
        return cast("PydanticModel", value).model_dump(mode="json")
    if isinstance(value, MappingProxyType):  # the context of a node, which it may only read
        return dict(cast("MappingProxyType[str, object]", value))
    raise NotImplementedError(f"a {type(value).__name__} is no JSON; give back {PLAIN_DATA}")


encoded = msgspec.json.Encoder(enc_hook=_enc_hook).encode
_decode = msgspec.json.Decoder().decode
