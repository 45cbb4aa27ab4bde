"""Convert the result of a function to JSON, by the same rules as the input of a run."""

from collections.abc import Awaitable, Coroutine
from types import MappingProxyType
from typing import cast

import msgspec

from jeton.executor.python.schema_of import PLAIN_DATA, PydanticModel, is_pydantic
from jeton.model.json import Json
from jeton.model.storable import DEEPEST, TOO_DEEP, Flaws, storable

MAX_PROBLEMS = 5
DIGITS = 19  # a number with fewer fits into 64 bits

_ZEROES = bytes.maketrans(b"123456789", b"0" * 9)
_LONG_NUMBER = b"0" * DIGITS


class BadResult(ValueError):
    """The result cannot be stored. The message says where and why, and the task fails with `bad_result`."""


class NotPlain(BadResult):
    """A value that has no form in JSON."""

    def __init__(self, value: object, path: str = "result") -> None:
        kind = type(value).__name__
        problem = f"an object of the type '{kind}' is not plain data: return {PLAIN_DATA}"
        self.value = value
        if isinstance(value, Awaitable):
            name: str = getattr(self.value, "__qualname__", kind)
            problem = f"'{name}' was called and not awaited: write 'await {name}(…)', in a function with 'async def'"
        if isinstance(value, Coroutine):
            value.close()  # so that Python does not report it too
        super().__init__(f"{path}: {problem}")


def to_json(value: object, name: str = "result") -> Json:
    """The value as plain JSON that shares nothing with the original. Raises BadResult."""
    try:
        body = encoded(value)
        found: Json = _decode(body)
    except RecursionError:
        raise BadResult(f"{name} {TOO_DEEP}") from None
    except NotPlain as error:
        raise NotPlain(error.value, _path_to(error.value, value, name) or name) from None
    except ValueError:  # lone surrogates, or thousands of digits
        _raise_problems(value, name)
        raise
    if b"null" in body and value is not None and builtins_of(value) != found:  # NaN and infinity are null in JSON
        _raise_problems(value, name)
    if len(body) >= DIGITS:  # fewer bytes cannot exceed a limit
        check_bounds(found, body, name)
    return found


def check_bounds(value: Json, body: bytes, name: str) -> None:
    """Raise BadResult for numbers that are too large and nesting that is too deep. `body` is the JSON of the value.

    Searching the bytes is cheap and clears most values; only the others are traversed."""
    long_number = _LONG_NUMBER in body.translate(_ZEROES)
    if long_number or (body.count(b"[") + body.count(b"{") > DEEPEST and _is_deep(value)):
        _raise_problems(value, name)


def _is_deep(value: Json) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        inner = [each.values() if type(each) is dict else cast("list[Json]", each) for each in level]
        level = [item for items in inner for item in items if type(item) is dict or type(item) is list]
        if not level:
            return False
    return True


def _raise_problems(value: object, name: str) -> None:
    problems: Flaws = []
    storable(builtins_of(value), name, problems)
    if problems:
        more = f"; and {len(problems) - MAX_PROBLEMS} more" if len(problems) > MAX_PROBLEMS else ""
        raise BadResult("; ".join(f"{path}: {problem}" for path, problem in problems[:MAX_PROBLEMS]) + more)


def _path_to(wanted: object, value: object, path: str) -> str | None:
    """The path of an object in dicts, lists and tuples; None if it is elsewhere, such as in a dataclass."""
    if value is wanted:
        return path
    inner: list[tuple[str, object]] = []
    if isinstance(value, dict):
        inner = [(f"{path}.{key}", item) for key, item in cast("dict[object, object]", value).items()]
    elif isinstance(value, list | tuple):
        inner = [(f"{path}[{index}]", item) for index, item in enumerate(cast("list[object]", value))]
    return next((found for below, item in inner if (found := _path_to(wanted, item, below)) is not None), None)


def builtins_of(value: object, left: tuple[type, ...] = ()) -> Json:
    """The value as plain Python data that shares nothing with it, unchecked. Values of types in `left` are kept."""
    return cast("Json", msgspec.to_builtins(value, builtin_types=left, str_keys=True, enc_hook=_enc_hook))


def _enc_hook(value: object) -> object:
    if is_pydantic(type(value)):
        return cast("PydanticModel", value).model_dump(mode="json")
    if isinstance(value, MappingProxyType):  # the read-only context of a node
        return dict(cast("MappingProxyType[str, object]", value))
    raise NotPlain(value)


encoded = msgspec.json.Encoder(enc_hook=_enc_hook).encode
_decode = msgspec.json.Decoder().decode
