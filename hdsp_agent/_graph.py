"""From the operator's traits to the objects that do the work, and their start and stop."""

from __future__ import annotations

import asyncio
import os
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Final

from jupyter_server.utils import url_path_join
from pydantic import JsonValue, SecretStr

from ._version import __version__
from .comm import ChannelHub, ChannelLimits, Dispatcher, Owner
from .comm.history import History
from .comm.history_requests import HistoryRequests
from .comm.identity import server_owner
from .comm.notices import NoticeBoard
from .comm.rest import rest_handlers
from .comm.services import Services
from .comm.settings_requests import SettingsRequests
from .comm.state import changes, full_state
from .comm.storage_notices import StorageNotices
from .comm.task_storage import TaskStorage
from .comm.upkeep import Upkeep
from .comm.websocket import ChannelHandler
from .config import ConfigChange, ContextProxy, Fetch, OperatorPolicy, SecretStore, UserConfigSource
from .errors import InvalidSetting
from .events import schema_paths
from .messages import NoticesUpdatedMessage, StateMessage, warm_up
from .persistence import HistoryChange

if TYPE_CHECKING:
    from tornado.web import Application

    from .app import HdspAgentApp

__all__ = ["build_services", "start_services"]

_NEVER_GIGABYTES: Final = 100_000
"""The largest the setting can be; the operator writes 0."""


def build_services(app: HdspAgentApp) -> Services:
    """Put everything together; nothing here touches disk, network or keyring."""
    home = _home(app)
    policy = _policy(app)
    config = ContextProxy(home, policy, SecretStore(home, policy), user_config=_user_config(app))
    notices = NoticeBoard(config)

    async def task_exists(owner: Owner, task_id: str) -> bool:
        return await history.has(owner, task_id)

    dispatcher = Dispatcher(log=app.log, task_exists=task_exists)

    def state_of(owner: Owner) -> StateMessage:
        can_start_tasks = dispatcher.handles("newTask")
        return full_state(__version__, config, notices, can_start_tasks=can_start_tasks, shown=history.shown(owner))

    channels = ChannelHub(
        version=__version__,
        dispatcher=dispatcher,
        state_of=state_of,
        limits=ChannelLimits(
            max_frame_bytes=app.max_frame_bytes,
            ring_frames=app.ring_frames,
            ring_bytes=app.ring_bytes,
            heartbeat_seconds=app.heartbeat_seconds,
            write_seconds=app.slow_client_seconds,
        ),
        log=app.log,
    )

    def others_changed(change: HistoryChange) -> None:
        history.others_changed(change)

    storage_notices = StorageNotices(notices)
    storage = TaskStorage(
        home,
        storage_notices,
        person=_person(),
        on_change=others_changed,
        remembered=app.max_memory_messages,
        log=app.log,
    )
    history = History(storage, channels)
    SettingsRequests(config, notices, channels.publish_to_all).register(dispatcher)
    HistoryRequests(history, channels).register(dispatcher)
    return Services(
        version=__version__,
        config=config,
        notices=notices,
        channels=channels,
        storage=storage,
        history=history,
        upkeep=Upkeep(storage, history, config, storage_notices, log=app.log),
        max_body_bytes=app.max_body_bytes,
    )


async def start_services(app: HdspAgentApp, services: Services) -> None:
    """Load what is on disk and let requests in."""
    # Building validators takes a few tenths of a second; neither the first frame nor other requests may wait for it.
    await asyncio.to_thread(warm_up)
    services.config.subscribe(lambda change: _tell_pages(services, change))
    services.notices.subscribe(
        lambda: services.channels.publish_to_all(NoticesUpdatedMessage(notices=services.notices.standing))
    )
    await services.config.start()
    services.storage.start()
    services.upkeep.start()
    _publish(app, services)


def _publish(app: HdspAgentApp, services: Services) -> None:
    server = app.serverapp
    assert server is not None and server.event_logger is not None
    for path in schema_paths():
        server.event_logger.register_event_schema(path)
    web_app: Application = server.web_app
    web_app.settings.update({"hdsp_agent_services": services, "hdsp_agent_channels": services.channels})
    handlers = [("/hdsp-agent/comm", ChannelHandler), *rest_handlers()]
    base_url = web_app.settings["base_url"]
    web_app.add_handlers(".*$", [(url_path_join(base_url, path), handler) for path, handler in handlers])


def _tell_pages(services: Services, change: ConfigChange) -> None:
    for message in changes(change, services.config, services.notices):
        services.channels.publish_to_all(message)


def _home(app: HdspAgentApp) -> Path:
    try:
        home = Path(app.storage_dir).expanduser().absolute()
        str(home).encode()
    except (RuntimeError, UnicodeEncodeError) as error:
        raise InvalidSetting(f"storage_dir cannot be {app.storage_dir!a}: {error}.", field="storage_dir") from None
    if not app.storage_dir:
        raise InvalidSetting("storage_dir is empty; leave it out to have ~/.hdsp-agent.", field="storage_dir")
    return home


def _policy(app: HdspAgentApp) -> OperatorPolicy:
    return OperatorPolicy(
        allowed_providers=tuple(app.allowed_providers) or None,
        allowed_modes=tuple(app.allowed_modes) or None,
        allowed_tools=tuple(app.allowed_tools) or None,
        allow_auto_approval=app.allow_auto_approval,
        default_profile=app.default_profile,
        default_provider=app.default_provider or None,
        default_model=app.default_model or None,
        fixed_settings={**_decided(app), **app.fixed_settings},
        provider_keys={provider: SecretStr(key) for provider, key in app.provider_keys.items()},
        allowed_keyring_backends=tuple(app.allowed_keyring_backends),
        keyring_timeout_seconds=app.keyring_timeout,
    )


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


def _person() -> Owner:
    """To whom the server belongs: a hub names the person; elsewhere it is whoever runs it."""
    return Owner(os.environ.get("JUPYTERHUB_USER") or server_owner())


def _user_config(app: HdspAgentApp) -> UserConfigSource | None:
    if not app.user_config_api_url:
        return None
    if not app.user_config_api_url.startswith(("http://", "https://")):
        raise InvalidSetting("user_config_api_url must begin with http:// or https://.", field="user_config_api_url")
    return UserConfigSource(
        app.user_config_api_url, _person(), app.user_config_api_timeout, _fetch_with(app.user_config_api_token)
    )


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
