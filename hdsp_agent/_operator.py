"""What the operator decided, from the app's traits to what the rooms of the house take."""

from __future__ import annotations

import os
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from pydantic import JsonValue, SecretStr

from . import _person
from .comm import Owner
from .comm.hub_links import HubLinks
from .comm.hub_reports import HubReportsTarget
from .config import (
    HUB_TOKEN_VARIABLE,
    Fetch,
    OperatorPolicy,
    UserConfigSource,
    behind_hub_service,
    hub_config_url,
    hub_reports_url,
)
from .errors import InvalidSetting
from .local import default_weights_folder
from .persistence import AuditLog, Backend, backend_named

if TYPE_CHECKING:
    from .app import HdspAgentApp

__all__ = [
    "artifact_store_of",
    "audit_log_of",
    "backend_of",
    "home_of",
    "hub_links_of",
    "hub_reports_of",
    "local_models_folder_of",
    "person_of_server",
    "policy_of",
    "user_config_of",
    "workspace_of",
]

_NEVER_GIGABYTES: Final = 100_000
"""The largest the setting can be; the operator writes 0."""
_HUB_RETRY_SECONDS: Final = 10.0
_HUB_REFRESH_SECONDS: Final = 300.0


def home_of(app: HdspAgentApp) -> Path:
    """The storage folder. Raises InvalidSetting."""
    try:
        home = Path(app.storage_dir).expanduser().absolute()
        str(home).encode()
    except (RuntimeError, UnicodeEncodeError) as error:
        raise InvalidSetting(f"storage_dir cannot be {app.storage_dir!a}: {error}.", field="storage_dir") from None
    if not app.storage_dir:
        raise InvalidSetting("storage_dir is empty. Leave it out to use ~/.hdsp-agent.", field="storage_dir")
    return home


def audit_log_of(app: HdspAgentApp, home: Path) -> AuditLog | None:
    """Where accesses to conversations are recorded, if anywhere."""
    return AuditLog(home / Path(app.audit_log).expanduser()) if app.audit_log else None


def backend_of(app: HdspAgentApp) -> Backend:
    """What conversations are kept in. Raises InvalidSetting."""
    return backend_named(app.storage_backend)


def artifact_store_of(app: HdspAgentApp) -> str:
    """Where artifacts of conversations are kept, if not with these. Raises InvalidSetting."""
    if app.artifact_store_url and backend_of(app) != "postgres":
        raise InvalidSetting(
            "artifact_store_url is for storage_backend = 'postgres' only. Leave it out, or keep conversations in PostgreSQL.",
            field="artifact_store_url",
        )
    return app.artifact_store_url


def local_models_folder_of(app: HdspAgentApp) -> Path:
    """Where weights of embedded models are kept."""
    return Path(app.local_models_dir).expanduser().absolute() if app.local_models_dir else default_weights_folder()


def workspace_of(app: HdspAgentApp) -> Path:
    """The folder tasks work in: the one the server serves, which paths of notebooks are relative to."""
    assert app.serverapp is not None
    return Path(app.serverapp.root_dir or Path.cwd()).absolute()


def policy_of(app: HdspAgentApp) -> OperatorPolicy:
    """What people may do. Raises InvalidSetting."""
    policy = OperatorPolicy(
        allowed_providers=tuple(app.allowed_providers) or None,
        allowed_modes=tuple(app.allowed_modes) or None,
        allowed_tools=tuple(app.allowed_tools) or None,
        allow_auto_approval=app.allow_auto_approval,
        allow_local_models=app.allow_local_models,
        allow_unlisted_models=app.allow_unlisted_models,
        allow_memory=app.allow_memory,
        allow_mcp_server=app.allow_mcp_server,
        allowed_mcp_servers=tuple(app.allowed_mcp_servers) or None,
        workspace_trust=_workspace_trust(app),
        trusted_folders=tuple(app.trusted_folders),
        team_folders=tuple(app.team_folders),
        default_profile=app.default_profile,
        default_provider=app.default_provider or None,
        default_model=app.default_model or None,
        fixed_settings={**_decided(app), **app.fixed_settings},
        provider_keys={provider: SecretStr(key) for provider, key in app.provider_keys.items()},
        allowed_keyring_backends=tuple(app.allowed_keyring_backends),
        keyring_timeout_seconds=app.keyring_timeout,
    )
    return behind_hub_service(policy, app.hub_service_url, os.environ) if app.hub_service_url else policy


def _workspace_trust(app: HdspAgentApp) -> Literal["ask", "always", "never"]:
    match app.workspace_trust:
        case "always" | "never" as decided:
            return decided
        case _:
            return "ask"


def _decided(app: HdspAgentApp) -> dict[str, JsonValue]:
    """What the operator decided about storage, as settings people see and cannot change; untouched, they decide."""
    chosen = app.config.get("HdspAgentApp", {})
    decided: dict[str, tuple[str, JsonValue]] = {
        "compress_after_days": ("retentionCompressDays", ceil(app.compress_after_days)),
        "delete_after_days": ("retentionDeleteDays", ceil(app.delete_after_days)),
        "storage_warning_gb": ("sizeWarningGigabytes", app.storage_warning_gb or _NEVER_GIGABYTES),
        "storage_critical_gb": ("sizeCriticalGigabytes", app.storage_critical_gb or _NEVER_GIGABYTES),
    }
    return {name: value for trait, (name, value) in decided.items() if trait in chosen}


def person_of_server() -> Owner:
    """To whom the server belongs: a hub names the person; elsewhere it is whoever runs it."""
    return Owner(_person.person_of_server())


def hub_links_of(app: HdspAgentApp) -> HubLinks:
    """Where this server shares conversations as links, if anywhere."""
    return HubLinks(app.hub_service_url, os.environ.get(HUB_TOKEN_VARIABLE, "").strip())


def user_config_of(app: HdspAgentApp) -> UserConfigSource | None:
    """Where people's defaults come from, if anywhere."""
    if app.hub_service_url and not app.user_config_api_url:
        token = os.environ.get(HUB_TOKEN_VARIABLE, "")
        return UserConfigSource(
            hub_config_url(app.hub_service_url),
            person_of_server(),
            app.user_config_api_timeout,
            _fetch_with(token),
            # What a group may do comes from there: it is not left out because the service started later.
            retry_seconds=_HUB_RETRY_SECONDS,
            refresh_seconds=_HUB_REFRESH_SECONDS,
        )
    if not app.user_config_api_url:
        return None
    if not app.user_config_api_url.startswith(("http://", "https://")):
        raise InvalidSetting("user_config_api_url must begin with http:// or https://.", field="user_config_api_url")
    return UserConfigSource(
        app.user_config_api_url, person_of_server(), app.user_config_api_timeout, _fetch_with(app.user_config_api_token)
    )


def hub_reports_of(app: HdspAgentApp) -> HubReportsTarget | None:
    """Where this server's tasks and storage are told, if anywhere. Raises InvalidSetting."""
    token = os.environ.get(HUB_TOKEN_VARIABLE, "").strip()
    if not app.hub_service_url or not app.hub_reports or not token:
        return None
    server = os.environ.get("JUPYTERHUB_SERVER_NAME", "")
    return HubReportsTarget(hub_reports_url(app.hub_service_url), SecretStr(token), server)


def _fetch_with(token: str) -> Fetch:
    async def fetch(url: str, timeout_seconds: float) -> bytes:
        from tornado.httpclient import AsyncHTTPClient, HTTPRequest

        headers = {"Accept": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
        request = HTTPRequest(
            url,
            headers=headers,
            connect_timeout=timeout_seconds,
            request_timeout=timeout_seconds,
            follow_redirects=False,
        )
        answer = await AsyncHTTPClient().fetch(request)
        return bytes(answer.body)

    return fetch
