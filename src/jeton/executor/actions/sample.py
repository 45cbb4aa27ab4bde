"""Data that fits a schema, drawn by chance: enough of JSON Schema for drafts and tests, not all of it."""

from random import Random
from typing import TypeGuard

from jeton.model.json import Json, JsonObject, Schema

WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "haven", "isle", "juniper")
DEEPEST = 8  # a schema that contains itself is followed this far
WIDEST = 3  # more items than this only if the schema asks for them
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


def sample(schema: Schema, chance: Random) -> Json:
    """A value for the schema. The same chance gives the same value."""
    return _Sampler(schema, chance).value(schema, 0)


class _Sampler:
    def __init__(self, root: Schema, chance: Random) -> None:
        self._root = root
        self._chance = chance

    def value(self, schema: Json, depth: int) -> Json:
        if not isinstance(schema, dict):
            return {}
        schema = self._resolved(schema)
        if "const" in schema:
            return schema["const"]
        match schema:
            case {"enum": list(choices)} if choices:
                return self._chance.choice(choices)
            case {"anyOf": list(choices)} | {"oneOf": list(choices)} if choices:
                rest = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf")}
                chosen = choices[-1] if depth >= DEEPEST else self._chance.choice(choices)
                return self.value(_both(rest, chosen), depth)
            case _:
                return self._of_type(self._type(schema), schema, depth)

    def _resolved(self, schema: JsonObject) -> JsonObject:
        """References followed and `allOf` laid over one another."""
        for _ in range(DEEPEST):
            reference, parts = schema.get("$ref"), schema.get("allOf")
            if isinstance(reference, str):
                rest = {key: value for key, value in schema.items() if key != "$ref"}
                schema = _both(rest, self._at(reference))
            elif isinstance(parts, list):
                schema = {key: value for key, value in schema.items() if key != "allOf"}
                for part in parts:
                    schema = _both(schema, part)
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
                return self._chance.choice(names)
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
                return self._chance.random() < 0.5
            case _:
                return None

    def _object(self, schema: JsonObject, depth: int) -> Json:
        properties, required = schema.get("properties"), schema.get("required")
        known = properties if isinstance(properties, dict) else {}
        needed = [key for key in required if isinstance(key, str)] if isinstance(required, list) else []
        keys = needed if depth >= DEEPEST else [*known, *(key for key in needed if key not in known)]
        return {key: self.value(known.get(key, {"type": "string"}), depth + 1) for key in keys}

    def _array(self, schema: JsonObject, depth: int) -> Json:
        prefix = schema.get("prefixItems")
        first = [self.value(item, depth + 1) for item in prefix] if isinstance(prefix, list) else []
        least, most = _whole(schema.get("minItems"), len(first)), _whole(schema.get("maxItems"), WIDEST)
        items = schema.get("items", {"type": "string"})
        wanted = least if depth >= DEEPEST or items is False else self._between(least, max(least, min(most, WIDEST)))
        made = first[:most] if "maxItems" in schema else first
        for _ in range(1000):
            if len(made) >= wanted:
                break
            item = self.value(items, depth + 1)
            if schema.get("uniqueItems") is not True or item not in made:
                made.append(item)
        return made

    def _string(self, schema: JsonObject) -> Json:
        word, day = self._chance.choice(WORDS), self._between(1, 28)
        text = FORMATS.get(str(schema.get("format")), "{word}").format(word=word, day=day)
        least, most = _whole(schema.get("minLength"), 0), schema.get("maxLength")
        while len(text) < least:
            text += self._chance.choice(WORDS)
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
            drawn = self._between(int(first), int(max(first, last))) * unit
            return int(drawn) if whole else drawn
        return least + (most - least) * self._chance.uniform(0.25, 0.75)

    def _between(self, least: int, most: int) -> int:
        return self._chance.randint(least, most)


def _is_number(value: Json) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _whole(value: Json, default: int) -> int:
    return int(value) if _is_number(value) else default


def _bound(schema: JsonObject, inclusive: str, exclusive: str) -> tuple[int | float, bool] | None:
    """The limit, and whether it is itself forbidden."""
    outer, inner = schema.get(exclusive), schema.get(inclusive)
    if _is_number(outer):
        return outer, True
    return (inner, False) if _is_number(inner) else None


def _both(first: JsonObject, second: Json) -> JsonObject:
    """One schema that asks for what both ask for, as far as laying one over the other can."""
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
