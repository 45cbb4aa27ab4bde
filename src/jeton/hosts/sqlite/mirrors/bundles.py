"""Definitions as a store keeps them: a bundle per version, numbered by what it does, and compiled once."""

import hashlib

import msgspec

from jeton.definitions.bundle import bundle_of
from jeton.definitions.version import definition_hash
from jeton.hosts.sqlite.file.connect import Connection
from jeton.hosts.sqlite.store import Store
from jeton.model.definition.workflow import Library
from jeton.model.failure import Refused
from jeton.planning.program.compile import compile_definition
from jeton.planning.program.workflow import Program

_encode = msgspec.json.Encoder(order="deterministic").encode
_decode = msgspec.json.Decoder(Library).decode


class Bundles:
    """Every version anybody asked for, decoded and compiled."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._libraries: dict[tuple[str, int], Library] = {}
        self._programs: dict[tuple[str, int], Program] = {}
        self._children: dict[tuple[str, int, str], int] = {}
        self._newest: dict[str, int] | None = None

    def own(self) -> None:
        """From here on only this process deploys: what is newest need not be looked up each time."""
        self._newest = {}

    def deployed(self, name: str, version: int) -> None:
        """New runs get this version from now on."""
        if self._newest is not None:
            self._newest[name] = version

    def find(self, name: str, version: int | None = None) -> tuple[Library, int] | None:
        """The bundle of a version; without one, of the version deployed last."""
        if version is None and self._newest is not None:
            version = self._newest.get(name)
        if version is not None and (name, version) in self._libraries:
            return self._libraries[name, version], version
        found = self._store.bundle(name, version)
        if found is None:
            return None
        body, number = found
        if version is None:
            self.deployed(name, number)
        return self._libraries.setdefault((name, number), _decode(body)), number

    def child(self, name: str, version: int, reference: str) -> tuple[str, int]:
        """Which version of a workflow a run of this version calls: the named one, or the one it was deployed with."""
        child, at, number = reference.partition("@")
        if at:
            return child, int(number)
        asked = (name, version, child)
        if asked not in self._children:
            bundle = self.program(name, version)[1]
            found = self._store.version_of(child, bundle_hash(bundle_of(bundle, child)))
            if found is None:
                problem = f"version {version} of workflow '{name}' was stored without '{child}'"
                raise Refused("unknown_workflow", problem, "deploy it again")
            self._children[asked] = found
        return child, self._children[asked]

    def program(self, name: str, version: int) -> tuple[Program, Library]:
        """What planning needs, and what the executor needs."""
        found = self.find(name, version)
        if found is None:
            problem = f"version {version} of workflow '{name}' is not in this store"
            raise Refused("unknown_workflow", problem, "deploy it first")
        if (name, version) not in self._programs:
            self._programs[name, version] = compile_definition(found[0], name)
        return self._programs[name, version], found[0]


def bundle_hash(bundle: Library) -> str:
    """The same for bundles that do the same, however they are described."""
    parts = {
        section: {name: definition_hash(definition) for name, definition in definitions.items()}
        for section, definitions in (
            ("workflows", bundle.workflows),
            ("flows", bundle.flows),
            ("tasks", bundle.tasks),
            ("actions", bundle.actions),
        )
    }
    if bundle.flows:  # left out where there are none, so that the versions of older stores keep their numbers
        parts["flows"] = {name: definition_hash(flow) for name, flow in bundle.flows.items()}
    if bundle.model_profiles:
        parts["model_profiles"] = {name: definition_hash(each) for name, each in bundle.model_profiles.items()}
    return hashlib.sha256(_encode({**parts, "settings": bundle.settings})).hexdigest()


def put_bundle(db: Connection, name: str, bundle: Library) -> int:
    """Its version number: the one it has, or the next. Either way new runs get it from now on.

    What it calls is stored beside it, as the versions that its runs will call."""
    put_children(db, name, bundle)
    found: str = bundle_hash(bundle)
    latest: int = db.execute("select coalesce(max(deployed), 0) from definitions where name = ?", (name,)).get
    known: int | None = db.execute("select version from definitions where name = ? and hash = ?", (name, found)).get
    if known is not None:
        db.execute("update definitions set deployed = ? where name = ? and version = ?", (latest + 1, name, known))
        return known
    return _insert(db, name, found, bundle, latest + 1)


def put_children(db: Connection, name: str, bundle: Library) -> None:
    """Whatever a workflow calls, as the versions that its runs will call."""
    reached = bundle_of(bundle, name)
    for child in (*reached.workflows, *reached.flows):
        if child != name:
            _put_child(db, child, bundle_of(bundle, child))


def _put_child(db: Connection, name: str, bundle: Library) -> None:
    """Known to those who call it, and not what a new run of that name gets, unless there is no other."""
    found: str = bundle_hash(bundle)
    if db.execute("select 1 from definitions where name = ? and hash = ?", (name, found)).get is None:
        _insert(db, name, found, bundle, 0)


def _insert(db: Connection, name: str, found: str, bundle: Library, deployed: int) -> int:
    version: int = db.execute("select coalesce(max(version), 0) + 1 from definitions where name = ?", (name,)).get
    insert_version(db, name, version, found, _encode(bundle), deployed)
    return version


def insert_version(db: Connection, name: str, version: int, found: str, body: bytes, deployed: int) -> None:
    """A version, as it is kept."""
    insert = "insert into definitions(name, version, hash, bundle, digest, deployed) values(?, ?, ?, ?, ?, ?)"
    db.execute(insert, (name, version, found, body, hashlib.sha256(body).digest(), deployed))
