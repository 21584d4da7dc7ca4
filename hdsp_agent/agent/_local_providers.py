"""Which models run on this machine, and which conversations were with one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from urllib.parse import urlsplit

from ..config import ProviderSettings, provider_info

__all__ = ["is_on_this_machine", "place_on_this_machine", "stayed_on_this_machine"]

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
    return _place(address)


def is_on_this_machine(address: str) -> bool:
    """Whether what is sent to this address stays on this machine."""
    return _place(address) is not None


def stayed_on_this_machine(
    profile: str | None, settings_of: Callable[[str], ProviderSettings | None], *, used_local_model: bool
) -> bool:
    """Whether a conversation was with a model on this machine. ``profile`` is the one that it used last."""
    if used_local_model or profile is None:
        return used_local_model
    provider = settings_of(profile)
    # A profile that is gone, or has another name now, may have been one of this machine.
    return provider is None or place_on_this_machine(provider) is not None


def _place(address: str) -> str | None:
    try:
        parts = urlsplit(address)
        return f"{parts.hostname}:{parts.port}" if parts.hostname in _HERE else None
    except ValueError:
        return None
