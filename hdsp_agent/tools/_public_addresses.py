"""Which addresses may be fetched: public ones, and the very address that was checked is the one connected to."""

from __future__ import annotations

import ipaddress
import socket
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import urlsplit

from ._tool_failed import ToolFailed

if TYPE_CHECKING:
    from httpx2 import URL

__all__ = ["checked_url", "is_public", "public_address"]

_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
_Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

_LONGEST_URL: Final = 4_000
_BLOCKED: Final = tuple(
    ipaddress.ip_network(network)
    for network in (
        # What Python takes for global, or did in some version, and is not.
        "0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4",
        "::/127", "64:ff9b:1::/48", "100::/64", "2001:db8::/32", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10",
        "fec0::/10", "ff00::/8",
        # Azure's own services, for every virtual machine there.
        "168.63.129.16/32",
    )
)  # fmt: skip
_METADATA: Final = tuple(
    ipaddress.ip_network(network)
    for network in (
        "169.254.0.0/16", "fe80::/10", "fd00:ec2::/32", "fd20:ce::/32", "168.63.129.16/32", "100.100.100.200/32",
        "192.0.0.192/32",
    )
)  # fmt: skip
"""Where clouds give a machine its passwords: refused even where private addresses are allowed."""
_WITH_IPV4_LAST: Final = tuple(
    ipaddress.ip_network(network) for network in ("64:ff9b::/96", "::/96", "::ffff:0:0/96", "::ffff:0:0:0/96")
)
"""IPv4 addresses as gateways and systems write them in IPv6."""
_ISATAP: Final = frozenset({0x0000_5EFE, 0x0200_5EFE})


def checked_url(text: str) -> URL:
    """The URL if it is one that may be asked for at all. Raises ToolFailed."""
    import httpx2

    if len(text) > _LONGEST_URL or any(character.isspace() or not character.isprintable() for character in text):
        raise ToolFailed("The URL is too long, or has white space or control characters in it.")
    try:
        url = httpx2.URL(text)
        parts = urlsplit(text)
    except (httpx2.InvalidURL, ValueError) as error:
        raise ToolFailed(f"{text!r} is not a URL: {error}.") from None
    if url.scheme not in {"http", "https"} or not url.host:
        raise ToolFailed(f"{text!r} cannot be fetched: only http and https addresses can.")
    if url.userinfo or "@" in parts.netloc:
        raise ToolFailed("The URL has a user name or password in it. Give it without.")
    return url


def public_address(host: str, port: int, *, allow_private: bool) -> str:
    """The address to connect to for a host. Blocks. Raises ToolFailed for a host that is not public."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ToolFailed(f"The host {host} cannot be found: {error}.") from None
    addresses = [str(each[4][0]) for each in found]
    if any(_is_metadata(address) for address in addresses):
        raise ToolFailed(f"The host {host} is a cloud's service for its machines, and is never fetched.")
    if not allow_private and not all(is_public(address) for address in addresses):
        raise ToolFailed(f"The host {host} is inside a private network, and such addresses may not be fetched.")
    return addresses[0]


def is_public(address: str) -> bool:
    """Whether an IP address is on the open internet, whatever it is wrapped in."""
    return all(_is_open(ip) for ip in _meant(address))


def _is_metadata(address: str) -> bool:
    return any(_is_in(ip, _METADATA) for ip in _meant(address))


def _meant(address: str) -> list[_Address]:
    """The addresses it may lead to: what is wrapped in it, else itself."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv4Address) or int(ip) <= 1:
        return [ip]
    if _is_in(ip, _WITH_IPV4_LAST):
        return [ipaddress.IPv4Address(int(ip) & 0xFFFF_FFFF)]
    if ip.sixtofour is not None:
        return [ip.sixtofour]
    if ip.teredo is not None:
        return list(ip.teredo)
    if int(ip) >> 32 & 0xFFFF_FFFF in _ISATAP:
        return [ip, ipaddress.IPv4Address(int(ip) & 0xFFFF_FFFF)]
    return [ip]


def _is_open(ip: _Address) -> bool:
    return ip.is_global and not ip.is_multicast and not _is_in(ip, _BLOCKED)


def _is_in(ip: _Address, networks: tuple[_Network, ...]) -> bool:
    return any(ip in network for network in networks)
