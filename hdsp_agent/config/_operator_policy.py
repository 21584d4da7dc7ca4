"""What the operator of a server decides for the people on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import JsonValue, SecretStr

from ..errors import ForbiddenByOperator, InvalidSetting
from ._providers import provider_info

__all__ = ["OperatorPolicy", "is_whole_path"]


def is_whole_path(folder: str) -> bool:
    """Whether a folder is the same one wherever the server was started."""
    return folder.startswith("~") or Path(folder).is_absolute()


@dataclass(frozen=True)
class OperatorPolicy:
    """The operator's decisions. The defaults leave everything to the person; ``None`` allows all."""

    allowed_providers: tuple[str, ...] | None = None
    allowed_modes: tuple[str, ...] | None = None
    allowed_tools: tuple[str, ...] | None = None
    allow_auto_approval: bool = True
    workspace_trust: Literal["ask", "always", "never"] = "ask"
    """Whether people decide which folders they trust, or all are trusted, or none but ``trusted_folders``."""
    trusted_folders: tuple[str, ...] = ()
    """Folders that are trusted whatever people decide, with all inside them."""
    team_folders: tuple[str, ...] = ()
    """Folders whose modes, slash commands, rules and notes everybody uses. Later ones are nearer."""
    allow_local_models: bool = True
    """Whether the embedded model may be fetched and run."""
    allow_unlisted_models: bool = True
    """Whether embedded models may be run that are not of our list: any of a hub, or a file."""
    allow_memory: bool = True
    """Whether anything may be remembered between conversations."""
    allow_mcp_server: bool = True
    """Whether people may let other agents connect to the server."""
    allowed_mcp_servers: tuple[str, ...] | None = None
    """URLs and command lines of the MCP servers that may be used, with ``*`` for anything."""

    default_profile: str = "default"
    """The name of the profile made at the first start, and the current one while the person has chosen none."""
    default_provider: str | None = None
    """The provider of profiles that name none."""
    default_model: str | None = None
    """The model of profiles that use the default provider and name none."""
    fixed_settings: Mapping[str, JsonValue] = field(default_factory=dict)
    """Settings, and provider settings, nobody can change, by their names on the wire."""

    provider_keys: Mapping[str, SecretStr] = field(default_factory=dict, repr=False)
    """Keys by provider, for everyone on this server. They can be used and not be read."""
    hub_providers: frozenset[str] = frozenset()
    """Providers reached through the hub service. No key from the environment goes there."""
    allowed_keyring_backends: tuple[str, ...] = ()
    """Modules of keyring backends trusted besides those of the operating systems."""
    keyring_timeout_seconds: float = 1.8
    """How long the keyring may take to answer, so that its state is known within two seconds of the start."""

    file_lock_timeout_seconds: float = 10.0
    """How long a change waits for another process that is changing the same file."""

    def check_names(self) -> None:
        """Raise InvalidSetting for a name that is no provider's: a slip there must not allow or forbid too much."""
        for option, names in (
            ("allowed_providers", self.allowed_providers or ()),
            ("provider_keys", self.provider_keys),
        ):
            for name in names:
                if provider_info(name) is None:
                    raise InvalidSetting(f"{option} names {name}, which is not a provider.", field=option)
        if not self.allows_provider(self.default_provider):
            raise InvalidSetting(
                f"default_provider is {self.default_provider}, which allowed_providers leaves out.",
                field="default_provider",
            )
        for option, folders in (("trusted_folders", self.trusted_folders), ("team_folders", self.team_folders)):
            for folder in folders:
                if not is_whole_path(folder):
                    raise InvalidSetting(f"{option} names {folder!a}, which is not a full path.", field=option)
        if "mode" in self.fixed_settings and not self.allows_mode(self.fixed_settings["mode"]):
            raise InvalidSetting("fixed_settings fixes a mode that allowed_modes leaves out.", field="fixed_settings")

    def check_provider(self, provider: JsonValue) -> None:
        """Raise unless profiles may use the provider."""
        if provider == "local" and not self.allow_local_models:
            raise ForbiddenByOperator(
                "Your administrator does not allow embedded models. Choose another provider.",
                field="apiProvider",
                provider="local",
            )
        if not self.allows_provider(provider):
            raise ForbiddenByOperator(
                f"Your administrator does not allow the provider {provider}. "
                f"Allowed: {', '.join(self.allowed_providers or ()) or 'none'}.",
                field="apiProvider",
                provider=str(provider),
            )

    def check_unlisted_models(self) -> None:
        """Raise unless people may run embedded models that are not of our list."""
        if not self.allow_unlisted_models:
            raise ForbiddenByOperator(
                "Your administrator allows only the embedded models of the list. Choose one of them.",
                field="localModelPath",
            )

    def allows_provider(self, provider: JsonValue) -> bool:
        """Whether profiles may use the provider; a profile without one is always allowed."""
        if provider == "local" and not self.allow_local_models:
            return False
        return provider is None or self.allowed_providers is None or provider in self.allowed_providers

    def allows_mode(self, mode: JsonValue) -> bool:
        """Whether tasks may run in the mode."""
        return self.allowed_modes is None or mode in self.allowed_modes

    def forced_settings(self) -> dict[str, JsonValue]:
        """The settings nobody can change, those that follow from other decisions included."""
        forced = dict(self.fixed_settings)
        if not self.allow_auto_approval:
            forced["autoApprovalEnabled"] = False
        if not self.allow_memory:
            forced["memoryEnabled"] = False
        if not self.allow_mcp_server:
            forced["mcpServerEnabled"] = False
        return forced

    def provider_defaults(self) -> dict[str, JsonValue]:
        """Provider settings for profiles that leave them open."""
        defaults: dict[str, JsonValue] = {}
        if self.default_provider:
            defaults["apiProvider"] = self.default_provider
        if self.default_model:
            defaults["apiModelId"] = self.default_model
        return defaults
