"""Deployed definitions in memory."""

import msgspec

from jeton.actor.definitions import Bundles, bundle_hash, encode_bundle, reached
from jeton.definitions.bundle import bundle_of
from jeton.model.definition.workflow import Library


class _Version(msgspec.Struct):
    hash: str
    body: bytes
    deployed: int  # new runs get the version with the highest number


class Definitions:
    """Bundles by name and version, and what is compiled from them. Fulfils `jeton.actor.definitions.StoredBundles`.

    Simulations of one library may share it. Such a library has one version of everything, whichever is asked for."""

    def __init__(self, library: Library | None = None) -> None:
        self._versions: dict[str, list[_Version]] = {}
        self._one_version = library is not None
        self.bundles = Bundles(self)
        if library is not None:
            for name in (*library.workflows, *library.flows):
                self.deploy(bundle_of(library, name), name)

    def deploy(self, bundle: Library, name: str) -> int:
        """Store a bundle and what it calls. Returns its version, which new runs get from now on."""
        for child, its_bundle in reached(name, bundle):
            if self.version_of(child, bundle_hash(its_bundle)) is None:
                self._insert(child, its_bundle, deployed=0)
        latest = max((version.deployed for version in self._versions.get(name, ())), default=0)
        known = self.version_of(name, bundle_hash(bundle))
        if known is None:
            return self._insert(name, bundle, latest + 1)
        self._versions[name][known - 1].deployed = latest + 1
        return known

    def _insert(self, name: str, bundle: Library, deployed: int) -> int:
        versions = self._versions.setdefault(name, [])
        versions.append(_Version(bundle_hash(bundle), encode_bundle(bundle), deployed))
        return len(versions)

    def bundle(self, name: str, version: int | None) -> tuple[bytes, int] | None:
        versions = self._versions.get(name, [])
        if version is not None and not self._one_version:
            return (versions[version - 1].body, version) if 0 < version <= len(versions) else None
        if not versions:
            return None
        newest = max(range(len(versions)), key=lambda index: versions[index].deployed)
        return versions[newest].body, newest + 1

    def version_of(self, name: str, hash: str) -> int | None:
        found = enumerate(self._versions.get(name, ()), 1)
        return next((number for number, version in found if version.hash == hash), None)
