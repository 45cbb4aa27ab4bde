"""Deployed definitions in memory."""

import msgspec

from jeton.actor.definitions import Bundles, bundle_hash, called_bundles, encode_bundle
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
        self._hashes: dict[bytes, str] = {}  # by body
        self._one_version = library is not None
        self.bundles = Bundles(self)
        if library is not None:
            for name in (*library.workflows, *library.flows):
                self.deploy(bundle_of(library, name), name)

    def deploy(self, bundle: Library, name: str) -> int:
        """Store a bundle and what it calls. Returns its version, which new runs get from now on."""
        for child, its_bundle in called_bundles(name, bundle):
            body, hash = self._encoded(its_bundle)
            if self.version_of(child, hash) is None:
                self._versions.setdefault(child, []).append(_Version(hash, body, deployed=0))
        body, hash = self._encoded(bundle)
        versions = self._versions.setdefault(name, [])
        latest = max((version.deployed for version in versions), default=0)
        known = self.version_of(name, hash)
        if known is None:
            versions.append(_Version(hash, body, latest + 1))
            return len(versions)
        versions[known - 1].deployed = latest + 1
        return known

    def _encoded(self, bundle: Library) -> tuple[bytes, str]:
        """A bundle as it is stored, and its hash, which is worked out once: a library has many bundles alike."""
        body = encode_bundle(bundle)
        if body not in self._hashes:
            self._hashes[body] = bundle_hash(bundle)
        return body, self._hashes[body]

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
