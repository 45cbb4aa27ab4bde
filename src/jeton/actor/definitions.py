"""Deployed definitions: one bundle per version, numbered by content, and compiled once."""

import hashlib
from collections.abc import Mapping
from typing import Protocol

import msgspec
from msgspec.structs import replace

from jeton.definitions.bundle import bundle_of, deployable
from jeton.definitions.version import Hashed, definition_hash
from jeton.model.definition.trigger import Trigger
from jeton.model.definition.workflow import Library
from jeton.model.failure import Refused
from jeton.model.reference import parse_reference
from jeton.planning.program.compile import compile_definition
from jeton.planning.program.workflow import Program
from jeton.planning.triggers.firing import Startable, startable_in

_encode = msgspec.json.Encoder(order="deterministic").encode
_decode = msgspec.json.Decoder(Library).decode


class StoredBundles(Protocol):
    """Where bundles are stored."""

    def bundle(self, name: str, version: int | None) -> tuple[bytes, int] | None:
        """A deployed bundle; without a version, the one deployed last."""
        ...

    def version_of(self, name: str, hash: str) -> int | None:
        """The version with this content."""
        ...


class Bundles:
    """A cache of versions, decoded and compiled."""

    def __init__(self, store: StoredBundles) -> None:
        self._store = store
        self._libraries: dict[tuple[str, int], Library] = {}
        self._programs: dict[tuple[str, int], Program] = {}
        self._children: dict[tuple[str, int, str], int] = {}
        self._newest: dict[str, int] | None = None

    def cache_newest(self) -> None:
        """Cache which version is the newest, because from now on only this process deploys."""
        self._newest = {}

    def set_newest(self, name: str, version: int) -> None:
        """Set the version that new runs get."""
        if self._newest is not None:
            self._newest[name] = version

    def find(self, name: str, version: int | None = None) -> tuple[Library, int] | None:
        """A version's bundle and number; without a number, the version deployed last."""
        if version is None and self._newest is not None:
            version = self._newest.get(name)
        if version is not None and (name, version) in self._libraries:
            return self._libraries[name, version], version
        found = self._store.bundle(name, version)
        if found is None:
            return None
        body, number = found
        if version is None:
            self.set_newest(name, number)
        if (name, number) not in self._libraries:
            self._libraries[name, number] = _decode(body)
        return self._libraries[name, number], number

    def child(self, name: str, version: int, reference: str) -> tuple[str, int]:
        """The workflow and version that a run of this version calls: the named version, or the one deployed with it."""
        child, number = parse_reference(reference)
        if number is not None:
            return child, number
        call = (name, version, child)
        if call not in self._children:
            bundle = self.program(name, version)[1]
            found = self._store.version_of(child, bundle_hash(bundle_of(bundle, child)))
            if found is None:
                problem = f"version {version} of workflow '{name}' was stored without '{child}'"
                raise Refused("unknown_workflow", problem, "deploy it again")
            self._children[call] = found
        return child, self._children[call]

    def program(self, name: str, version: int) -> tuple[Program, Library]:
        """A version compiled for planning, and its bundle for the executor."""
        found = self.find(name, version)
        if found is None:
            problem = f"version {version} of workflow '{name}' is not in this store"
            raise Refused("unknown_workflow", problem, "deploy it first")
        if (name, version) not in self._programs:
            self._programs[name, version] = self._compiled(name, version, found[0])
        return self._programs[name, version], found[0]

    def _compiled(self, name: str, version: int, bundle: Library) -> Program:
        program = compile_definition(bundle, name)
        if program.talk is None:
            return program

        def at(other: int) -> Program:
            return self.program(name, other)[0]

        # turns that began with another version go on with it
        talk = replace(program.talk, version=version, at=at)
        return replace(program, talk=talk)

    def newest(self, name: str, version: int) -> tuple[Program, Library]:
        """The version of an agent that turns which begin now get. `version`: what is taken if it was not deployed."""
        found = self.find(name)
        return self.program(name, version if found is None else found[1])

    def startable(self, trigger: Trigger) -> Startable | None:
        """What a trigger starts, as it is deployed now; None if it is not deployed."""
        name, version = parse_reference(trigger.start)
        found = self.find(name, version)
        return None if found is None else startable_in(found[0], name, found[1])


def encode_bundle(bundle: Library) -> bytes:
    """A bundle as it is stored."""
    return _encode(bundle)


def called_bundles(name: str, bundle: Library) -> list[tuple[str, Library]]:
    """The bundles of all that a workflow or agent calls. They are stored with it, as the versions that it will call."""
    whole = bundle_of(bundle, name)
    return [(child, bundle_of(bundle, child)) for child in deployable(whole) if child != name]


def bundle_hash(bundle: Library) -> str:
    """A hash that is the same for bundles that do the same, whatever their descriptions."""
    parts = {
        "workflows": _hashes(bundle.workflows),
        "flows": _hashes(bundle.flows),
        "tasks": _hashes(bundle.tasks),
        "actions": _hashes(bundle.actions),
    }
    later = {
        "model_profiles": _hashes(bundle.model_profiles),
        "prompts": _hashes(bundle.prompts),
        "tools": _hashes(bundle.tools),
        "personas": _hashes(bundle.personas),
        "agents": _hashes(bundle.agents),
    }
    parts.update((section, found) for section, found in later.items() if found)  # stored hashes know no empty ones
    return hashlib.sha256(_encode({**parts, "settings": bundle.settings})).hexdigest()


def _hashes(definitions: Mapping[str, Hashed]) -> dict[str, str]:
    return {name: definition_hash(definition) for name, definition in definitions.items()}
