"""Keys and tokens of MCP servers, in the one place where the person's keys are kept. None goes to another address than it was given for."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Final, Protocol
from urllib.parse import urlsplit

from pydantic import JsonValue, SecretStr

from ...config import CREDENTIAL_NAME
from ...messages import JsonObject
from ._server_config import ServerConfig
from ._variables import secret_reference

__all__ = ["SavedSecrets", "SecretPlace", "take_secrets"]

_PARTS: Final = ("client", "tokens", "metadata")
"""What a log-in leaves behind."""


class SecretPlace(Protocol):
    """Where secrets are kept. Each may raise SecretStorageUnavailable."""

    async def get_other(self, name: str, address: str) -> SecretStr | None:
        """A secret given for this address."""

    async def set_other(self, name: str, value: SecretStr, address: str) -> None:
        """Keep it."""

    async def delete_others(self, names: Iterable[str]) -> None:
        """Forget them."""


class SavedSecrets:
    """Those of all servers."""

    def __init__(self, place: SecretPlace) -> None:
        self._place = place

    async def key(self, server: ServerConfig, name: str) -> str | None:
        """A key that the server's entry refers to."""
        found = await self._place.get_other(name, _address(server))
        return None if found is None else found.get_secret_value()

    async def keep_keys(self, server: ServerConfig, keys: Mapping[str, str]) -> None:
        """Keep keys that entries refer to from now on."""
        for name, value in keys.items():
            await self._place.set_other(name, SecretStr(value), _address(server))

    async def forget_keys(self, names: Iterable[str]) -> None:
        """Forget such keys."""
        await self._place.delete_others(names)

    async def login(self, server: ServerConfig, part: str) -> str | None:
        """Part of what the last log-in left."""
        found = await self._place.get_other(login_name(server, part), _address(server))
        return None if found is None else found.get_secret_value()

    async def keep_login(self, server: ServerConfig, part: str, value: str) -> None:
        """Keep part of a log-in."""
        await self._place.set_other(login_name(server, part), SecretStr(value), _address(server))

    async def forget_login(self, server: ServerConfig) -> None:
        """Log out."""
        await self._place.delete_others(login_names(server))


def login_name(server: ServerConfig, part: str) -> str:
    """What the secret is called."""
    return f"login-{hashlib.sha256(server.key.encode()).hexdigest()[:16]}-{part}"


def login_names(server: ServerConfig) -> list[str]:
    """All that a log-in may have left."""
    return [login_name(server, part) for part in _PARTS]


def _address(server: ServerConfig) -> str:
    """Whom a key of this server is meant for."""
    if server.entry.url is not None:
        parts = urlsplit(server.entry.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    return f"program of {hashlib.sha256(server.name.encode()).hexdigest()[:16]}"


def take_secrets(name: str, written: JsonObject) -> tuple[JsonObject, dict[str, str]]:
    """An entry with references in place of its keys, and the keys by the names they are kept under."""
    keys: dict[str, str] = {}
    changed = dict(written)
    for part in ("env", "environment", "headers", "http_headers"):
        values = changed.get(part)
        if isinstance(values, dict):
            changed[part] = {field: _taken(name, field, value, keys) for field, value in values.items()}
    oauth = changed.get("oauth")
    if isinstance(oauth, dict) and "clientSecret" in oauth:
        changed["oauth"] = {**oauth, "clientSecret": _taken(name, "clientSecret", oauth["clientSecret"], keys)}
    return changed, keys


def _taken(name: str, field: str, value: JsonValue, keys: dict[str, str]) -> JsonValue:
    if not isinstance(value, str) or not CREDENTIAL_NAME.search(field) or "${" in value or not value.strip():
        return value
    # The scheme is no secret, and a header is readable with it.
    scheme, _, rest = value.partition(" ")
    is_scheme = bool(rest.strip()) and scheme.lower() in ("bearer", "basic", "token")
    kept = f"{name}/{field}"
    keys[kept] = rest.strip() if is_scheme else value
    return f"{scheme} {secret_reference(kept)}" if is_scheme else secret_reference(kept)
