"""Where calls may go: public addresses, and what `project.settings.http.allow` names besides.

Only a resolved address is ever judged, never the text of a host: there are more ways to write 127.0.0.1 than a list of
forbidden texts would know.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import TypeAlias

import msgspec

from jeton.model.json import JsonObject

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

# an address in here carries an IPv4 address in its last bits, to which a gateway passes it on
_NAT64 = IPv6Network("64:ff9b::/96")


class SettingsInvalid(Exception):
    """`project.settings` says something that makes no sense; the text names it."""


class AddressRefused(Exception):
    """A host that leads to no address calls may go to."""


class Egress(msgspec.Struct, frozen=True):
    """What a project allows besides public addresses."""

    hosts: frozenset[str] = frozenset()
    networks: tuple[Network, ...] = ()

    def permitted(self, host: str, addresses: Iterable[Address]) -> list[Address]:
        """Those of the host's addresses that may be connected to; raises AddressRefused if there are none."""
        found = list(addresses)
        if plain_host(host) in self.hosts:
            return found
        allowed = [each for each in found if self._permits(each)]
        if not allowed:
            shown = ", ".join(sorted({str(each) for each in found})) or "nothing"
            raise AddressRefused(
                f"'{host}' leads to {shown}, and calls go to public addresses only: "
                "a project allows others under project.settings.http.allow"
            )
        return allowed

    def _permits(self, address: Address) -> bool:
        """Every address it may stand for must be allowed: which of them a gateway takes is not ours to know."""
        return all(
            is_public(each) or any(each.version == network.version and each in network for network in self.networks)
            for each in _meant(address)
        )


def egress_of(settings: JsonObject) -> Egress:
    """What the project's settings allow."""
    asked = settings.get("http")
    if asked is None:
        return _NOTHING_BESIDES
    allow = asked.get("allow", []) if isinstance(asked, dict) else None
    if not isinstance(asked, dict) or not isinstance(allow, list) or asked.keys() - {"allow"}:
        raise SettingsInvalid("project.settings.http takes 'allow', a list of hosts and networks")
    return _egress(tuple(str(each) for each in allow))


def is_public(address: Address) -> bool:
    """Whether anybody on the internet could be reached there: `is_global` alone lets multicast and more through."""
    odd = address.is_multicast or address.is_reserved or address.is_unspecified
    return address.is_global and not odd and not (isinstance(address, IPv6Address) and address.is_site_local)


def plain_host(host: str) -> str:
    """A host as it is compared: `LOCALHOST.` is `localhost`."""
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
            hosts.add(plain_host(each))
    return Egress(frozenset(hosts), tuple(networks))


def _meant(address: Address) -> Iterator[Address]:
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


_NOTHING_BESIDES = Egress()
