"""Deployed definitions in memory."""

from collections.abc import Mapping, Sequence

import msgspec

from jeton.actor.definitions import Bundles, bundle_hash, called_bundles, encode_bundle
from jeton.actor.queries.listing import SourceText, StoredVersion
from jeton.definitions.bundle import bundle_of, deployable
from jeton.model.definition.workflow import Library


class _Version(msgspec.Struct):
    hash: str
    body: bytes
    deployed: int  # new runs get the version with the highest number
    at: int | None = None  # when it was deployed for the first time
    files: tuple[SourceText, ...] = ()


class Definitions:
    """Bundles by name and version, and what is compiled from them. Fulfils `jeton.actor.definitions.StoredBundles`.

    Simulations of one library may share it. Such a library has one version of everything, whichever is asked for."""

    def __init__(self, library: Library | None = None) -> None:
        self._versions: dict[str, list[_Version]] = {}
        self._hashes: dict[bytes, str] = {}  # by body
        self._one_version = library is not None
        self.bundles = Bundles(self)
        if library is not None:
            for name in deployable(library):
                self.deploy(bundle_of(library, name), name)

    def deploy(self, bundle: Library, name: str, now: int = 0) -> int:
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
            versions.append(_Version(hash, body, latest + 1, now))
            return len(versions)
        version = versions[known - 1]
        version.deployed, version.at = latest + 1, now if version.at is None else version.at
        return known

    def keep_source(self, versions: Mapping[str, int], files: Sequence[SourceText]) -> None:
        """Keep the files that versions were deployed from."""
        for name, version in versions.items():
            self._versions[name][version - 1].files = tuple(files)

    def source(self, name: str, version: int) -> tuple[SourceText, ...]:
        """The files that a version was deployed from."""
        versions = self._versions.get(name, [])
        return versions[version - 1].files if 0 < version <= len(versions) else ()

    def versions(self, name: str) -> list[StoredVersion]:
        """The versions that were deployed, newest number first."""
        found = [
            StoredVersion(number, each.hash, each.deployed, each.at)
            for number, each in enumerate(self._versions.get(name, ()), 1)
            if each.deployed
        ]
        return found[::-1]

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

    def deployed(self) -> list[str]:
        """The names of all that was deployed."""
        return sorted(name for name, versions in self._versions.items() if any(each.deployed for each in versions))

    def version_of(self, name: str, hash: str) -> int | None:
        found = enumerate(self._versions.get(name, ()), 1)
        return next((number for number, version in found if version.hash == hash), None)
