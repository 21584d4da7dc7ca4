"""The hub service as a person's server sees it: where models are, and which key opens it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from pydantic import JsonValue, SecretStr

from ..errors import InvalidSetting
from ._operator_policy import OperatorPolicy

__all__ = ["HUB_TOKEN_VARIABLE", "behind_hub_service", "hub_config_url", "hub_reports_url"]

HUB_TOKEN_VARIABLE: Final = "JUPYTERHUB_API_TOKEN"  # noqa: S105 -- the name of a variable, not its value
"""Where JupyterHub puts the token of a person's server. It stands for that person at the hub service."""

_PROVIDERS: Final[Mapping[str, tuple[str, str]]] = {
    "anthropic": ("anthropicBaseUrl", "/anthropic"),
    "openai": ("openAiBaseUrl", "/openai/v1"),
    "openai-native": ("openAiNativeBaseUrl", "/openai/v1"),
}
"""The setting that has a provider's address, and where the service has that provider."""


def behind_hub_service(policy: OperatorPolicy, url: str, environ: Mapping[str, str]) -> OperatorPolicy:
    """The policy of a server whose models are reached through the hub service. Raises InvalidSetting."""
    address = _address(url)
    fixed: dict[str, JsonValue] = {name: address + path for name, path in _PROVIDERS.values()}
    token = environ.get(HUB_TOKEN_VARIABLE, "").strip()
    keys = dict.fromkeys(_PROVIDERS, SecretStr(token)) if token else {}
    return replace(
        policy,
        fixed_settings={**policy.fixed_settings, **fixed},
        provider_keys={**policy.provider_keys, **keys},
        hub_providers=frozenset(_PROVIDERS),
    )


def hub_config_url(url: str) -> str:
    """Where the service says what a person's settings are. Raises InvalidSetting."""
    return f"{_address(url)}/api/config/{{username}}"


def hub_reports_url(url: str) -> str:
    """Where the service takes reports of a person's server. Raises InvalidSetting."""
    return f"{_address(url)}/api/tasks"


def _address(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise InvalidSetting("hub_service_url must begin with http:// or https://.", field="hub_service_url")
    return url.rstrip("/")
