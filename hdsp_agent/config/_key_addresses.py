"""Where a profile's key would go, and whether a key from the environment may go there.

A saved key is kept together with the address it was given for and goes nowhere else. A key from the environment names
no address, so it goes to its provider's own one, to one that the operator set, and to one that the environment names. None goes to the hub service.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final
from urllib.parse import urlsplit

from pydantic import JsonValue

from ._fields import field_providers, wire_names
from ._operator_policy import OperatorPolicy
from ._provider_settings import ProviderSettings
from ._providers import ProviderInfo, provider_info

__all__ = ["KeyAddress", "address_field", "key_address", "origin_of"]

_ADDRESS_VARIABLES: Final[Mapping[str, tuple[str, ...]]] = {
    "anthropic": ("ANTHROPIC_BASE_URL",),
    "openai-native": ("OPENAI_BASE_URL",),
    "openai": ("OPENAI_COMPATIBLE_BASE_URL",),
    "openrouter": ("OPENROUTER_BASE_URL",),
    "bedrock": ("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "AWS_ENDPOINT_URL"),
    "gemini": ("GOOGLE_GEMINI_BASE_URL",),
    "mistral": ("MISTRAL_BASE_URL",),
    "deepseek": ("DEEPSEEK_BASE_URL",),
    "litellm": ("LITELLM_BASE_URL",),
    "ollama": ("OLLAMA_BASE_URL", "OLLAMA_HOST"),
}
"""Environment variables whose address may have the key from the environment too."""

_ANYWHERE: Final = frozenset({"openai", "litellm", "ollama"})
"""Programs that people run themselves: their keys are meant for whatever address the person names."""

_NEVER_SENT: Final = frozenset({"awsAccessKey", "awsSecretKey", "awsSessionToken"})
"""Requests are signed with these; whoever gets a request learns nothing that can be used elsewhere."""

_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True)
class KeyAddress:
    """Where one key of a profile would go."""

    origin: str
    """Scheme, host and port; the provider's id where it has no one address; empty if none is named yet."""
    takes_environment: bool
    """Whether a key from the environment may go there."""
    is_needed: bool = True
    """Whether the profile asks for this key; where it signs requests instead, a key that may not be sent is no loss."""


def origin_of(url: str) -> str:
    """The address without its path, in one spelling."""
    parts = urlsplit(url if "://" in url else f"http://{url}")
    try:
        port = parts.port
    except ValueError:
        return url
    host = (parts.hostname or "").rstrip(".")
    host = "127.0.0.1" if host == "localhost" else f"[{host}]" if ":" in host else host
    shown = "" if port is None or port == _PORTS.get(parts.scheme) else f":{port}"
    return f"{parts.scheme}://{host}{shown}"


def address_field(provider: str | None) -> str | None:
    """The setting that holds a provider's address."""
    info = provider_info(provider) if provider else None
    return info.base_url_field if info else None


def key_address(
    key: str,
    settings: ProviderSettings,
    own: Mapping[str, JsonValue],
    policy: OperatorPolicy,
    environ: Mapping[str, str],
    *,
    imported: str | None = None,
) -> KeyAddress:
    """Where this key would go with these settings.

    ``own`` are those of them that a person set; ``imported`` is an address that came out of a settings file.
    """
    info = provider_info(_provider_of(key))
    assert info is not None
    own_origin = origin_of(info.default_base_url) if info.default_base_url else ""
    named = _named(info, settings)
    if info.protocol in ("bedrock", "vertex", "local", "fake") and named is None:
        return KeyAddress(info.id, True)
    origin = origin_of(named) if named is not None else own_origin
    operators = named is not None and (info.base_url_field in policy.fixed_settings or info.base_url_field not in own)
    from_environment = {
        origin_of(value) for name in _ADDRESS_VARIABLES.get(info.id, ()) if (value := environ.get(name))
    }
    anywhere = info.id in _ANYWHERE and not from_environment and origin != imported
    takes = operators or anywhere or key in _NEVER_SENT or origin in {own_origin, *from_environment}
    takes = takes and info.id not in policy.hub_providers
    return KeyAddress(origin, takes, is_needed=key != "awsApiKey" or bool(settings.aws_use_api_key))


def _named(info: ProviderInfo, settings: ProviderSettings) -> str | None:
    """The address that the settings name."""
    if info.base_url_field is None or (info.protocol == "bedrock" and not settings.aws_bedrock_endpoint_enabled):
        return None
    value = settings.to_wire().get(info.base_url_field)
    return value if isinstance(value, str) and value else None


@cache
def _provider_of(key: str) -> str:
    """The one provider that uses the key."""
    return field_providers(ProviderSettings.model_fields[wire_names(ProviderSettings)[key]])[0]
