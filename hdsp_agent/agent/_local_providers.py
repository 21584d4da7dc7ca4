"""Which models run on this machine."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from ..config import ProviderSettings, provider_info

__all__ = ["place_on_this_machine"]

_HERE: Final = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0", "host.docker.internal"})  # noqa: S104 - compared, not bound


def place_on_this_machine(provider: ProviderSettings | None) -> str | None:
    """Where a model runs that answers one request at a time, as those on this machine do; None for others."""
    if provider is None or provider.api_provider is None:
        return None
    if provider.api_provider == "local":
        return "local"
    info = provider_info(provider.api_provider)
    if info is None:
        return None
    given = provider.to_wire().get(info.base_url_field) if info.base_url_field else None
    address = given if isinstance(given, str) and given else info.default_base_url or ""
    try:
        parts = urlsplit(address)
        return f"{parts.hostname}:{parts.port}" if parts.hostname in _HERE else None
    except ValueError:
        return None
