"""Deployed definitions: one bundle per version, numbered by content, and compiled once."""

import hashlib
from typing import Protocol

import msgspec

from jeton.definitions.bundle import bundle_of
from jeton.definitions.version import definition_hash
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
        return self._libraries.setdefault((name, number), _decode(body)), number

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
            self._programs[name, version] = compile_definition(found[0], name)
        return self._programs[name, version], found[0]

    def startable(self, trigger: Trigger) -> Startable | None:
        """What a trigger starts, as it is deployed now; None if it is not deployed."""
        name, version = parse_reference(trigger.start)
        found = self.find(name, version)
        return None if found is None else startable_in(found[0], name, found[1])


def encode_bundle(bundle: Library) -> bytes:
    """A bundle as it is stored."""
    return _encode(bundle)


def called_bundles(name: str, bundle: Library) -> list[tuple[str, Library]]:
    """The bundles of all that a workflow calls. They are stored with it, as the versions that its runs will call."""
    whole = bundle_of(bundle, name)
    return [(child, bundle_of(bundle, child)) for child in (*whole.workflows, *whole.flows) if child != name]


def bundle_hash(bundle: Library) -> str:
    """A hash that is the same for bundles that do the same, whatever their descriptions."""
    parts = {
        section: {name: definition_hash(definition) for name, definition in definitions.items()}
        for section, definitions in (
            ("workflows", bundle.workflows),
            ("flows", bundle.flows),
            ("tasks", bundle.tasks),
            ("actions", bundle.actions),
        )
    }
    if bundle.model_profiles:
        parts["model_profiles"] = {name: definition_hash(each) for name, each in bundle.model_profiles.items()}
    return hashlib.sha256(_encode({**parts, "settings": bundle.settings})).hexdigest()
