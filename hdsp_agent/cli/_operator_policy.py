"""What the operator decided about tasks, as the configuration files of Jupyter say it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue, SecretStr, ValidationError

from ..config import OperatorPolicy, behind_hub_service
from ..errors import InvalidSetting
from ._home import operator_traits

__all__ = ["local_models_folder", "operator_policy"]


class _Traits(BaseModel):
    model_config = ConfigDict(extra="ignore", arbitrary_types_allowed=True)

    allowed_providers: tuple[str, ...] = ()
    allowed_modes: tuple[str, ...] = ()
    allowed_tools: tuple[str, ...] = ()
    allow_auto_approval: bool = True
    allow_local_models: bool = True
    allow_unlisted_models: bool = True
    allow_memory: bool = True
    allow_mcp_server: bool = True
    allowed_mcp_servers: tuple[str, ...] = ()
    workspace_trust: Literal["ask", "always", "never"] = "ask"
    trusted_folders: tuple[str, ...] = ()
    team_folders: tuple[str, ...] = ()
    fixed_settings: dict[str, JsonValue] = {}
    default_profile: str = "default"
    default_provider: str = ""
    default_model: str = ""
    provider_keys: dict[str, SecretStr] = {}
    allowed_keyring_backends: tuple[str, ...] = ()
    keyring_timeout: float = 1.5
    hub_service_url: str = ""
    local_models_dir: str = ""


def operator_policy() -> OperatorPolicy:
    """The same decisions a server on this machine goes by. Raises InvalidSetting."""
    traits = _traits()
    policy = OperatorPolicy(
        allowed_providers=traits.allowed_providers or None,
        allowed_modes=traits.allowed_modes or None,
        allowed_tools=traits.allowed_tools or None,
        allow_auto_approval=traits.allow_auto_approval,
        allow_local_models=traits.allow_local_models,
        allow_unlisted_models=traits.allow_unlisted_models,
        allow_memory=traits.allow_memory,
        allow_mcp_server=traits.allow_mcp_server,
        allowed_mcp_servers=traits.allowed_mcp_servers or None,
        workspace_trust=traits.workspace_trust,
        trusted_folders=traits.trusted_folders,
        team_folders=traits.team_folders,
        default_profile=traits.default_profile,
        default_provider=traits.default_provider or None,
        default_model=traits.default_model or None,
        fixed_settings=traits.fixed_settings,
        provider_keys=traits.provider_keys,
        allowed_keyring_backends=traits.allowed_keyring_backends,
        keyring_timeout_seconds=traits.keyring_timeout,
    )
    return behind_hub_service(policy, traits.hub_service_url, os.environ) if traits.hub_service_url else policy


def local_models_folder() -> Path | None:
    """Where the operator has weights of embedded models kept; None for the usual place."""
    named = _traits().local_models_dir
    return Path(named).expanduser().absolute() if named else None


def _traits() -> _Traits:
    try:
        return _Traits.model_validate(dict(operator_traits()))
    except ValidationError as error:
        # Without what was given: it may be a key.
        first = error.errors(include_input=False, include_url=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        raise InvalidSetting(
            f"Jupyter's configuration sets HdspAgentApp.{name} to a value that is not valid: {first['msg']}.",
            field=name,
        ) from None
