"""Which route a path names. A path counts as it was sent: nothing is decoded, joined or shortened to make it fit."""

from collections.abc import Iterable, Mapping
from urllib.parse import unquote_to_bytes

import msgspec

from jeton.api.route import Route

MAX_PART = 1024


class Found(msgspec.Struct, frozen=True):
    """The routes of a path, by method, and the named parts of the path."""

    routes: Mapping[str, Route]
    parts: Mapping[str, str]


class Router:
    """Finds routes by the parts of their paths: fixed parts before named ones."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._by_shape: dict[int, list[tuple[tuple[str, ...], dict[str, Route]]]] = {}
        for each in routes:
            parts = tuple(each.path.split("/"))
            shapes = self._by_shape.setdefault(len(parts), [])
            for known, methods in shapes:
                if known == parts:
                    methods[each.method] = each
                    break
            else:
                shapes.append((parts, {each.method: each}))
        for shapes in self._by_shape.values():
            shapes.sort(key=lambda shape: [part.startswith("{") for part in shape[0]])

    def find(self, raw_path: bytes) -> Found | None:
        """The routes of a path as it came over the wire; None if it names nothing."""
        try:
            sent = raw_path.decode("ascii").split("/")
        except UnicodeDecodeError:
            return None
        for parts, methods in self._by_shape.get(len(sent), ()):
            found = _named_parts(parts, sent)
            if found is not None:
                return Found(methods, found)
        return None


def _named_parts(parts: tuple[str, ...], sent: list[str]) -> dict[str, str] | None:
    found: dict[str, str] = {}
    for part, given in zip(parts, sent, strict=True):
        if not part.startswith("{"):
            if part != given:
                return None
            continue
        try:
            value = unquote_to_bytes(given).decode()
        except UnicodeDecodeError:
            return None
        if not value or len(value) > MAX_PART or value in (".", "..") or "/" in value or "\0" in value:
            return None
        found[part[1:-1]] = value
    return found
