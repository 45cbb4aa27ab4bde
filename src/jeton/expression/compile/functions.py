"""The functions of own.py on plain JSON values. Each is charged for what goes in and for what comes out.

An item that is a time or a duration can be compared, and nothing else."""

import base64
import binascii
import hashlib
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, TypeAlias, cast

import msgspec

from jeton.expression.bounds import (
    BUDGET,
    CHARACTERS_PER_UNIT,
    LARGEST_VALUE,
    LimitExceeded,
    LocalScope,
    Scope,
    charge,
    limit,
    weigh,
)
from jeton.expression.compile.closures import Evaluator
from jeton.expression.compile.operators import EvaluationError, add, checked, compare, no_overload
from jeton.expression.library import to_json
from jeton.expression.syntax import kind_of
from jeton.model.json import Json

Apply: TypeAlias = Callable[..., Json]  # the arguments, then where the call is in the source, then the scope
TIMES = (datetime, timedelta)
ENCODER = msgspec.json.Encoder(order="sorted")  # the same data gives the same text, however it was stored
WORK_PER_COMPARISON = 4  # comparisons that cost one unit


def own_function(name: str, args: tuple[Evaluator, ...], at: int) -> Evaluator:
    """The call of an own function."""
    apply = APPLY[name]
    if len(args) == 1:
        only = args[0]
        return lambda scope: apply(only(scope), at, scope)
    return lambda scope: apply(*[arg(scope) for arg in args], at, scope)


def in_json(run: Evaluator) -> Evaluator:
    """The same, with times in the result as text."""
    return lambda scope: to_json(run(scope))


def sorted_by(variable: str, items: Evaluator, key_of: Evaluator, cost: int, at: int) -> Evaluator:
    """`sort_by`. Items whose keys are equal stay in their order."""

    def run(scope: Scope) -> Json:
        values = listed("sort_by", items(scope), at)
        frame = LocalScope(scope)
        frame.meter.spend(cost * len(values))
        keys: list[Json] = []
        for value in values:
            frame[variable] = value
            keys.append(key_of(frame))
        comparable("sort_by", keys, at, scope)
        order = sorted(zip(cast("list[Any]", keys), range(len(keys)), strict=True))  # comparable, as just found
        return [values[index] for _, index in order]

    return run


def listed(name: str, value: Json, at: int) -> list[Json]:
    if type(value) is list:
        return value
    raise no_overload(name, at, value)


def text_of(name: str, value: Json, at: int, scope: Scope) -> bytes:
    """A text as UTF-8."""
    if type(value) is not str:
        raise no_overload(name, at, value)
    charge(scope, len(value) // CHARACTERS_PER_UNIT)
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise EvaluationError("a text in the data is not valid Unicode", at) from None


def made(text: str, scope: Scope) -> str:
    limit(scope, len(text), len(text) // CHARACTERS_PER_UNIT)
    return text


def comparable(name: str, items: list[Json], at: int, scope: Scope) -> None:
    """Check that any two of the items can be compared, and spend what sorting them takes."""
    charge(scope, len(items) * len(items).bit_length() // WORK_PER_COMPARISON)
    for item in items:
        checked(item, at)
        first: Any = items[0]
        if isinstance(first, TIMES):
            if not isinstance(item, type(first)):
                raise EvaluationError(f"there is no {name} for times beside other values", at)
        elif isinstance(item, TIMES):
            raise EvaluationError(f"there is no {name} for times beside other values", at)
        else:
            ordered(name, first, item, at)


def ordered(name: str, first: Json, item: Json, at: int) -> None:
    try:
        compare("_<_", first, item, at)
    except EvaluationError:
        kinds = dict.fromkeys((kind_of(first), kind_of(item)))
        raise EvaluationError(f"there is no {name} for items that are {' and '.join(kinds)}", at) from None


def parse_json(text: Json, at: int, scope: Scope) -> Json:
    encoded = text_of("json.parse", text, at, scope)
    try:
        value: Json = msgspec.json.decode(encoded)
    except msgspec.DecodeError as error:
        raise EvaluationError(f"the text is not JSON: {error}", at) from None
    charge(scope, weigh(value, BUDGET))
    check_numbers(value, at)
    return value


def check_numbers(value: Json, at: int) -> None:
    """Raise EvaluationError for an integer beyond 64 bits."""
    if isinstance(value, dict):
        for item in value.values():
            check_numbers(item, at)
    elif isinstance(value, list):
        for item in value:
            check_numbers(item, at)
    else:
        checked(value, at)


def json_text(value: Json, at: int, scope: Scope) -> Json:
    weight = weigh(value, LARGEST_VALUE)
    if weight > LARGEST_VALUE:
        raise LimitExceeded(f"hands more than {LARGEST_VALUE:,} values to a function")
    charge(scope, weight)
    try:
        return made(ENCODER.encode(value).decode(), scope)
    except UnicodeEncodeError:
        raise EvaluationError("a text in the data is not valid Unicode", at) from None


def encode_base64(text: Json, at: int, scope: Scope) -> Json:
    return made(base64.b64encode(text_of("base64.encode", text, at, scope)).decode(), scope)


def decode_base64(text: Json, at: int, scope: Scope) -> Json:
    encoded = text_of("base64.decode", text, at, scope)
    try:
        return made(base64.b64decode(encoded, validate=True).decode(), scope)
    except (binascii.Error, UnicodeDecodeError) as error:
        what = "base64" if isinstance(error, binascii.Error) else "UTF-8 in base64"
        raise EvaluationError(f"the text is not {what}: {error}", at) from None


def sha256(text: Json, at: int, scope: Scope) -> Json:
    return hashlib.sha256(text_of("hash.sha256", text, at, scope)).hexdigest()


def count_up(end: Json, at: int, scope: Scope) -> Json:
    if type(end) is not int:
        raise no_overload("range", at, end)
    limit(scope, end, max(end, 0))
    return [*range(end)]


def total(items: Json, at: int, scope: Scope) -> Json:
    result: Json = 0
    values = listed("sum", items, at)
    charge(scope, len(values))
    for item in values:
        if type(item) is not int and type(item) is not float:
            raise EvaluationError(f"there is no sum for items that are {kind_of(item)}", at)
        result = add(result, checked(item, at), at, scope)
    return result


def smallest(items: Json, at: int, scope: Scope) -> Json:
    values = some("min", items, at)
    comparable("min", values, at, scope)
    return min(values)  # type: ignore[type-var]  # comparable, as just found


def largest(items: Json, at: int, scope: Scope) -> Json:
    values = some("max", items, at)
    comparable("max", values, at, scope)
    return max(values)  # type: ignore[type-var]  # comparable, as just found


def in_order(items: Json, at: int, scope: Scope) -> Json:
    values = listed("sort", items, at)
    comparable("sort", values, at, scope)
    return sorted(values)  # type: ignore[type-var]  # comparable, as just found


def some(name: str, items: Json, at: int) -> list[Json]:
    """The items of a list that has some."""
    values = listed(name, items, at)
    if not values:
        raise EvaluationError(f"there is no {name} of an empty list", at)
    return values


def without_duplicates(items: Json, at: int, scope: Scope) -> Json:
    values = listed("distinct", items, at)
    charge(scope, weigh(values, BUDGET))
    found: dict[object, Json] = {}
    for value in values:
        found.setdefault(identity(value), value)
    return [*found.values()]


def identity(value: Json) -> object:
    """A key that is the same for values that are equal in CEL: 1 and 1.0, but not 1 and true."""
    if isinstance(value, list):
        return (list, *map(identity, value))
    if isinstance(value, dict):
        return (dict, frozenset((key, identity(item)) for key, item in value.items()))
    return (bool, value) if isinstance(value, bool) else value


def flat(items: Json, at: int, scope: Scope) -> Json:
    """One level of lists less; other items stay."""
    values = listed("flatten", items, at)
    length = sum(len(item) if type(item) is list else 1 for item in values)
    limit(scope, length, len(values) + length)
    result: list[Json] = []
    for item in values:
        if type(item) is list:
            result.extend(item)
        else:
            result.append(item)
    return result


def part(items: Json, start: Json, end: Json, at: int, scope: Scope) -> Json:
    values = listed("slice", items, at)
    if type(start) is not int or type(end) is not int:
        raise no_overload("slice", at, items, start, end)
    if not 0 <= start <= end <= len(values):
        raise EvaluationError(f"slice({start}, {end}) is out of range: the list has {len(values)} items", at)
    charge(scope, end - start)
    return values[start:end]


def backwards(items: Json, at: int, scope: Scope) -> Json:
    if type(items) is str:
        charge(scope, len(items) // CHARACTERS_PER_UNIT)
        return items[::-1]
    values = listed("reverse", items, at)
    charge(scope, len(values))
    return values[::-1]


def first(items: Json, at: int, scope: Scope) -> Json:
    return checked(some("first", items, at)[0], at)


def last(items: Json, at: int, scope: Scope) -> Json:
    return checked(some("last", items, at)[-1], at)


APPLY: dict[str, Apply] = {
    "json.parse": parse_json,
    "json.text": json_text,
    "base64.encode": encode_base64,
    "base64.decode": decode_base64,
    "hash.sha256": sha256,
    "range": count_up,
    "sum": total,
    "min": smallest,
    "max": largest,
    "sort": in_order,
    "distinct": without_duplicates,
    "flatten": flat,
    "slice": part,
    "reverse": backwards,
    "first": first,
    "last": last,
}
