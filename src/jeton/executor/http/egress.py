"""Egress rules: requests may go to public addresses, and to those in `project.settings.http.allow`.

Only resolved addresses are checked, never the text of a host, because there are many ways to write 127.0.0.1.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import TypeAlias

import msgspec

from jeton.model.json import JsonObject

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

# addresses whose last bits are an IPv4 address, to which a gateway forwards
_NAT64 = IPv6Network("64:ff9b::/96")

# metadata services and documentation, which some versions of Python take for public
_NOT_PUBLIC: tuple[Network, ...] = (
    IPv4Network("192.0.0.0/24"),
    IPv4Network("168.63.129.16/32"),
    IPv6Network("3fff::/20"),
)


class SettingsInvalid(Exception):
    """`project.settings` is invalid; the message names the key."""


class AddressRefused(Exception):
    """A host without a permitted address."""


class Egress(msgspec.Struct, frozen=True):
    """The hosts and networks that a project allows besides public addresses."""

    hosts: frozenset[str] = frozenset()
    networks: tuple[Network, ...] = ()

    def permitted(self, host: str, addresses: Iterable[Address]) -> list[Address]:
        """The permitted addresses of a host. Raises AddressRefused if there are none."""
        found = list(addresses)
        if normalized_host(host) in self.hosts:
            return found
        allowed = [each for each in found if self._permits(each)]
        if not allowed:
            shown = ", ".join(sorted({str(each) for each in found})) or "nothing"
            raise AddressRefused(
                f"'{host}' resolves to {shown}, and only public addresses are permitted: "
                "allow others under project.settings.http.allow"
            )
        return allowed

    def _permits(self, address: Address) -> bool:
        """Whether every address that a gateway may forward to is permitted."""
        return all(
            is_public(each) or any(each.version == network.version and each in network for network in self.networks)
            for each in _reachable(address)
        )


def egress_of(settings: JsonObject) -> Egress:
    """The egress rules of a project. Raises SettingsInvalid."""
    configured = settings.get("http")
    if configured is None:
        return _PUBLIC_ONLY
    allow = configured.get("allow", []) if isinstance(configured, dict) else None
    if not isinstance(configured, dict) or not isinstance(allow, list) or configured.keys() - {"allow"}:
        raise SettingsInvalid("project.settings.http takes 'allow', a list of hosts and networks")
    return _egress(tuple(str(each) for each in allow))


def is_public(address: Address) -> bool:
    """Whether the address is public. `is_global` alone includes multicast and other special ranges."""
    special = address.is_multicast or address.is_reserved or address.is_unspecified
    if any(address in network for network in _NOT_PUBLIC if network.version == address.version):
        return False
    return address.is_global and not special and not (isinstance(address, IPv6Address) and address.is_site_local)


def normalized_host(host: str) -> str:
    """The normal form of a host: `LOCALHOST.` is `localhost`."""
    return host.lower().removesuffix(".").strip("[]")


@lru_cache(maxsize=64)
def _egress(allow: tuple[str, ...]) -> Egress:
    hosts: set[str] = set()
    networks: list[Network] = []
    for each in allow:
        try:
            networks.append(ip_network(each.strip("[]"), strict=False))
        except ValueError:
            if "/" in each or not each:
                problem = f"project.settings.http.allow: '{each}' is neither a host nor a network such as 10.0.0.0/8"
                raise SettingsInvalid(problem) from None
            hosts.add(normalized_host(each))
    return Egress(frozenset(hosts), tuple(networks))


def _reachable(address: Address) -> Iterator[Address]:
    """The addresses that a packet sent there may reach."""
    if not isinstance(address, IPv6Address):
        yield address
        return
    if address.ipv4_mapped is not None:
        yield address.ipv4_mapped
        return
    if address in _NAT64:
        yield IPv4Address(int(address) & 0xFFFFFFFF)
        return
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo
    yield address


_PUBLIC_ONLY = Egress()
