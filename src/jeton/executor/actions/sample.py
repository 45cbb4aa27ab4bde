"""Random data that fits a schema, for drafts and tests. Covers the common part of JSON Schema."""

from random import Random
from typing import TypeGuard

from jeton.model.json import Json, JsonObject, Schema

WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "haven", "isle", "juniper")
MAX_DEPTH = 8  # for schemas that contain themselves
DEEPEST = 50  # for those that must contain themselves, which no value fits
MAX_ITEMS = 3  # unless the schema asks for more
LONGEST = 10_000  # characters of a text, whatever the schema asks for
MOST_VALUES = 5_000  # of which nothing more is made
FORMATS = {
    "date-time": "2026-01-{day:02d}T12:00:00Z",
    "date": "2026-01-{day:02d}",
    "time": "12:{day:02d}:00Z",
    "duration": "P{day}D",
    "email": "{word}@example.org",
    "uri": "https://example.org/{word}",
    "hostname": "{word}.example.org",
    "ipv4": "192.0.2.{day}",
    "uuid": "00000000-0000-4000-8000-{day:012d}",
}


def sample(schema: Schema, random: Random) -> Json:
    """A value that fits the schema. The same random generator state gives the same value."""
    return _Sampler(schema, random).value(schema, 0)


class _Sampler:
    def __init__(self, root: Schema, random: Random) -> None:
        self._root = root
        self._random = random
        self._made = 0

    def value(self, schema: Json, depth: int) -> Json:
        self._made += 1
        if not isinstance(schema, dict) or depth > DEEPEST or self._made > MOST_VALUES:
            return {}
        schema = self._resolved(schema)
        if "const" in schema:
            return schema["const"]
        match schema:
            case {"enum": list(choices)} if choices:
                return self._random.choice(choices)
            case {"anyOf": list(choices)} | {"oneOf": list(choices)} if choices:
                rest = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf")}
                chosen = choices[-1] if depth >= MAX_DEPTH else self._random.choice(choices)
                return self.value(_merge(rest, chosen), depth)
            case _:
                return self._of_type(self._type(schema), schema, depth)

    def _resolved(self, schema: JsonObject) -> JsonObject:
        """The schema with references followed and `allOf` merged."""
        for _ in range(MAX_DEPTH):
            reference, parts = schema.get("$ref"), schema.get("allOf")
            if isinstance(reference, str):
                rest = {key: value for key, value in schema.items() if key != "$ref"}
                schema = _merge(rest, self._at(reference))
            elif isinstance(parts, list):
                schema = {key: value for key, value in schema.items() if key != "allOf"}
                for part in parts:
                    schema = _merge(schema, part)
            else:
                break
        return schema

    def _at(self, reference: str) -> Json:
        found: Json = self._root
        for key in reference.removeprefix("#").split("/")[1:]:
            found = found.get(key.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
        return found

    def _type(self, schema: JsonObject) -> Json:
        match schema.get("type"):
            case str(name):
                return name
            case [*names] if names:
                return self._random.choice(names)
            case _:
                return "array" if "items" in schema else "string" if "pattern" in schema else "object"

    def _of_type(self, name: Json, schema: JsonObject, depth: int) -> Json:
        match name:
            case "object":
                return self._object(schema, depth)
            case "array":
                return self._array(schema, depth)
            case "string":
                return self._string(schema)
            case "integer" | "number":
                return self._number(schema, whole=name == "integer")
            case "boolean":
                return self._random.random() < 0.5
            case _:
                return None

    def _object(self, schema: JsonObject, depth: int) -> Json:
        properties, required = schema.get("properties"), schema.get("required")
        known = properties if isinstance(properties, dict) else {}
        needed = [key for key in required if isinstance(key, str)] if isinstance(required, list) else []
        keys = needed if depth >= MAX_DEPTH else [*known, *(key for key in needed if key not in known)]
        return {key: self.value(known.get(key, {"type": "string"}), depth + 1) for key in keys}

    def _array(self, schema: JsonObject, depth: int) -> Json:
        prefix = schema.get("prefixItems")
        first = [self.value(item, depth + 1) for item in prefix] if isinstance(prefix, list) else []
        least, most = _whole(schema.get("minItems"), len(first)), _whole(schema.get("maxItems"), MAX_ITEMS)
        items = schema.get("items", {"type": "string"})
        wanted = (
            least
            if depth >= MAX_DEPTH or items is False
            else self._integer_between(least, max(least, min(most, MAX_ITEMS)))
        )
        array = first[:most] if "maxItems" in schema else first
        for _ in range(1000):
            if len(array) >= wanted:
                break
            item = self.value(items, depth + 1)
            if schema.get("uniqueItems") is not True or item not in array:
                array.append(item)
        return array

    def _string(self, schema: JsonObject) -> Json:
        word, day = self._random.choice(WORDS), self._integer_between(1, 28)
        text = FORMATS.get(str(schema.get("format")), "{word}").format(word=word, day=day)
        least, most = _whole(schema.get("minLength"), 0), schema.get("maxLength")
        while len(text) < min(least, LONGEST):
            text += self._random.choice(WORDS)
        return text[: max(least, most)] if _is_number(most) and isinstance(most, int) else text

    def _number(self, schema: JsonObject, whole: bool) -> Json:
        low, high = _bound(schema, "minimum", "exclusiveMinimum"), _bound(schema, "maximum", "exclusiveMaximum")
        least = low[0] if low is not None else 0 if high is None or high[0] >= 0 else high[0] - 100
        most = high[0] if high is not None else least + 100
        step = schema.get("multipleOf")
        if whole or _is_number(step):
            unit = step if _is_number(step) else 1
            first, last = -(-least // unit), most // unit
            first += 1 if low is not None and low[1] and first * unit == least else 0
            last -= 1 if high is not None and high[1] and last * unit == most else 0
            number = self._integer_between(int(first), int(max(first, last))) * unit
            return int(number) if whole else number
        return least + (most - least) * self._random.uniform(0.25, 0.75)

    def _integer_between(self, least: int, most: int) -> int:
        return self._random.randint(least, most)


def _is_number(value: Json) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _whole(value: Json, default: int) -> int:
    return int(value) if _is_number(value) else default


def _bound(schema: JsonObject, inclusive: str, exclusive: str) -> tuple[int | float, bool] | None:
    """The bound, and whether it is exclusive."""
    outer, inner = schema.get(exclusive), schema.get(inclusive)
    if _is_number(outer):
        return outer, True
    return (inner, False) if _is_number(inner) else None


def _merge(first: JsonObject, second: Json) -> JsonObject:
    """Merge two schemas, approximately: keys of the second replace those of the first."""
    if not isinstance(second, dict):
        return first
    both: JsonObject = {**first, **second}
    for key in ("properties", "$defs"):
        one, two = first.get(key), second.get(key)
        if isinstance(one, dict) and isinstance(two, dict):
            both[key] = {**one, **two}
    one, two = first.get("required"), second.get("required")
    if isinstance(one, list) and isinstance(two, list):
        both["required"] = [*one, *(name for name in two if name not in one)]
    return both
