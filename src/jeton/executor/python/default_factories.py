"""Defaults that a model makes with a function, as in `field(default_factory=list)`: its JSON Schema leaves them out."""

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, cast

import msgspec

from jeton.executor.python.results import to_json
from jeton.executor.python.schema_of import is_pydantic
from jeton.model.json import JsonObject

Factory = Callable[[], object]


class VaryingDefault(ValueError):
    """A default that differs from call to call. It has no place in a definition."""

    def __init__(self, field: str) -> None:
        super().__init__(f"the default of '{field}' differs from call to call")
        self.field = field


def made_defaults(model: type) -> JsonObject:
    """What the factories of a model's fields make, by the names of the fields in JSON.

    Raises VaryingDefault, BadResult if a value is not plain data, and whatever a factory raises."""
    found: JsonObject = {}
    for name, make in _factories(model):
        found[name] = to_json(make(), name)
        if to_json(make(), name) != found[name]:
            raise VaryingDefault(name)
    return found


def _factories(model: type) -> Iterator[tuple[str, Factory]]:
    if is_pydantic(model):
        yield from _pydantic_factories(model)
    elif dataclasses.is_dataclass(model):
        for field in dataclasses.fields(model):
            if field.default_factory is not dataclasses.MISSING:
                yield field.name, field.default_factory
    elif issubclass(model, msgspec.Struct):
        for each in msgspec.structs.fields(model):
            if each.default_factory is not msgspec.NODEFAULT:
                yield each.encode_name, each.default_factory


def _pydantic_factories(model: type) -> Iterator[tuple[str, Factory]]:
    """The factories that need no other field."""
    for name, field in cast("dict[str, Any]", getattr(model, "model_fields", {})).items():
        factory = field.default_factory
        if factory is not None and not getattr(field, "default_factory_takes_validated_data", False):
            alias = field.validation_alias or field.alias
            yield alias if isinstance(alias, str) else name, factory
