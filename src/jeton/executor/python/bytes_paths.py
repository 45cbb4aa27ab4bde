"""Find where type hints expect bytes, so that references to artifacts there can be replaced by their content."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias, cast

import msgspec
from msgspec import inspect

from jeton.executor.artifacts import ID, ArtifactReference
from jeton.model.json import Json

Path: TypeAlias = tuple[str | int, ...]
"""Keys and positions that lead to a part of plain data."""

Contents: TypeAlias = Mapping[Path, bytes]

NO_CONTENTS: Contents = {}

_BYTES = (inspect.BytesType, inspect.ByteArrayType, inspect.MemoryViewType)
_OBJECTS = (inspect.DictType, inspect.StructType, inspect.DataclassType, inspect.TypedDictType)


class BytesPaths:
    """The paths to bytes in values of one type."""

    def __init__(self, type: inspect.Type) -> None:
        self._type = type

    def references(self, value: Json, path: Path = ()) -> dict[Path, str]:
        """The ids of the artifacts referenced at such paths."""
        return dict(_references(self._type, value, path))


def bytes_paths_in(hint: Any) -> BytesPaths | None:
    """The paths to bytes in values of a type; None if there are none, which is usual."""
    try:
        type = inspect.type_info(hint)
    except TypeError:  # not a JSON type: making its schema reports that
        return None
    return BytesPaths(type) if _has_bytes(type, set()) else None


def set_at(tree: object, path: Path, value: object) -> object:
    """Set the value at a path of a tree, in place. Gives the tree, or the value if the path is empty."""
    if not path:
        return value
    *parents, last = path
    parent: Any = tree
    for key in parents:
        parent = parent[key]
    parent[last] = value
    return tree


def _references(type: inspect.Type, value: Json, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(type, _BYTES):
        id = _artifact_id(value)
        if id is not None:
            yield path, id
        return
    for inner, keys in _parts(type, value):
        item = value
        for key in keys:
            item = cast("Any", item)[key]
        yield from _references(inner, item, (*path, *keys))


def _parts(type: inspect.Type, value: Json) -> Iterator[tuple[inspect.Type, Path]]:
    """The types of the parts of a value of this type, with the keys that lead to each part."""
    match type, value:
        case (inspect.Metadata(type=inner), _):
            yield inner, ()
        case (inspect.UnionType(types=members), _):
            # if the type allows objects as well as bytes, an object is taken as it is
            objects = any(isinstance(_without_metadata(member), _OBJECTS) for member in members)
            yield from (
                (member, ()) for member in members if not (objects and isinstance(_without_metadata(member), _BYTES))
            )
        case (inspect.DictType(value_type=inner), dict()):
            yield from ((inner, (key,)) for key in value)
        case (inspect.CollectionType(item_type=inner), list()):
            yield from ((inner, (index,)) for index in range(len(value)))
        case (inspect.TupleType(item_types=inners), list()):
            yield from ((inner, (index,)) for index, inner in enumerate(inners[: len(value)]))
        case (inspect.StructType() | inspect.DataclassType() | inspect.TypedDictType(), dict()):
            yield from ((field.type, (field.encode_name,)) for field in type.fields if field.encode_name in value)
        case _:
            pass


def _has_bytes(type: inspect.Type, seen: set[int]) -> bool:
    """Whether values of the type may contain bytes. The type may contain itself."""
    if id(type) in seen:
        return False
    seen.add(id(type))
    match type:
        case inspect.BytesType() | inspect.ByteArrayType() | inspect.MemoryViewType():
            return True
        case (
            inspect.Metadata(type=inner) | inspect.DictType(value_type=inner) | inspect.CollectionType(item_type=inner)
        ):
            return _has_bytes(inner, seen)
        case inspect.UnionType(types=inners) | inspect.TupleType(item_types=inners):
            return any(_has_bytes(inner, seen) for inner in inners)
        case inspect.StructType() | inspect.DataclassType() | inspect.TypedDictType():
            return any(_has_bytes(field.type, seen) for field in type.fields)
        case _:
            return False


def _without_metadata(type: inspect.Type) -> inspect.Type:
    return type.type if isinstance(type, inspect.Metadata) else type


def _artifact_id(value: Json) -> str | None:
    """The id of the artifact, if the value is a reference."""
    try:
        id = msgspec.convert(value, ArtifactReference).id
    except msgspec.ValidationError:
        return None
    return id if ID.fullmatch(id) else None
