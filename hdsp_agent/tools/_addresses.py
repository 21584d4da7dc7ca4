"""Which addresses may be fetched: public ones, and the very address that was checked is the one connected to."""

from __future__ import annotations

import ipaddress
import socket
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from ._tool import ToolFailed

if TYPE_CHECKING:
    from httpx import URL

__all__ = ["checked_url", "is_public", "public_address"]

_LONGEST_URL: Final = 4_000
_TRANSLATED: Final = ipaddress.ip_network("64:ff9b::/96")
"""IPv4 addresses as a NAT64 gateway sees them."""


def checked_url(text: str) -> URL:
    """The URL if it is one that may be asked for at all. Raises ToolFailed."""
    import httpx

    if len(text) > _LONGEST_URL or any(character.isspace() or not character.isprintable() for character in text):
        raise ToolFailed("The URL is too long, or has white space or control characters in it.")
    try:
        url = httpx.URL(text)
        parts = urlsplit(text)
    except (httpx.InvalidURL, ValueError) as error:
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
    if not allow_private and not all(is_public(address) for address in addresses):
        raise ToolFailed(f"The host {host} is inside a private network, and such addresses may not be fetched.")
    return addresses[0]


def is_public(address: str) -> bool:
    """Whether an IP address is on the open internet, whatever it is wrapped in."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if inner is None and ip in _TRANSLATED:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            return inner.is_global and not inner.is_multicast
    return ip.is_global and not ip.is_multicast
