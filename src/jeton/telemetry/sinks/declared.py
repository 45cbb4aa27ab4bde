"""Which sinks there are: those in the settings of what is deployed."""

from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from jeton.engine.engine import Engine
from jeton.model.definition.sink import Sink, sinks_in
from jeton.model.definition.workflow import Library
from jeton.model.json import JsonObject


class Declared(msgspec.Struct, frozen=True):
    """A sink as the newest version of a workflow declares it, with the project's settings."""

    sink: Sink
    settings: JsonObject


Declarations: TypeAlias = Mapping[str, Declared]
"""One sink, by the workflows, flows and agents whose runs it hears of."""


class DeclaredSinks:
    """The sinks of a store. Looking again costs little while nothing was deployed."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._libraries: dict[str, Library] = {}
        self._found: dict[str, dict[str, Declared]] = {}

    async def now(self) -> Mapping[str, Declarations]:
        """The sinks by the names of their readers."""
        libraries = {name: await self._engine.workflow(name) for name in await self._engine.deployed()}
        if libraries.keys() == self._libraries.keys() and all(
            library is self._libraries[name] for name, library in libraries.items()
        ):
            return self._found
        found: dict[str, dict[str, Declared]] = {}
        for name, library in libraries.items():
            for sink in sinks_in(library.settings):
                found.setdefault(sink.reader, {})[name] = Declared(sink, library.settings)
        self._libraries, self._found = libraries, found
        return found
