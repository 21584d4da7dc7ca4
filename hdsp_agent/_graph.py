"""From the operator's traits to the objects that do the work, and their start and stop."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jupyter_server.utils import url_path_join

from ._operator import (
    artifact_store_of,
    audit_log_of,
    backend_of,
    home_of,
    hub_links_of,
    hub_reports_of,
    local_models_folder_of,
    person_of_server,
    policy_of,
    user_config_of,
    workspace_of,
)
from ._version import __version__
from .agent import mcp_hub
from .agent.external.port import ExternalClient
from .agent.ghost_text import GhostText
from .comm import ChannelHub, ChannelLimits, Dispatcher, Owner, RequestContext
from .comm.agent_requests import AgentRequests
from .comm.audit import Audit
from .comm.audited_programs import AuditedPrograms
from .comm.checkpoint_access import CheckpointAccess
from .comm.checkpoint_requests import CheckpointRequests
from .comm.composer_requests import ComposerRequests
from .comm.context_sizes import ContextSizes
from .comm.embedded_conversations import EmbeddedConversations
from .comm.error_details import ErrorDetails
from .comm.folder_trust import FolderTrusts
from .comm.history import History
from .comm.history_requests import HistoryRequests
from .comm.hub_reports import HubReports
from .comm.kernel_variables import KernelVariables
from .comm.mcp.endpoint import McpEndpoint
from .comm.mcp.handler import MCP_PATH, McpHandler
from .comm.mcp_login import MCP_LOGIN_PATH, McpLoginDoneHandler
from .comm.mcp_servers import McpServersAccess
from .comm.memory_access import MemoryAccess
from .comm.memory_job import MemoryJob
from .comm.mode_requests import ModeRequests
from .comm.notebook_memory import NotebookMemory
from .comm.notebook_requests import NotebookRequests
from .comm.notebooks import ServerNotebooks
from .comm.notice_board import Notices
from .comm.open_panels import OpenPanels
from .comm.panel_state_store import PanelStateStore
from .comm.recall_job import RecallJob
from .comm.rest import describe, rest_handlers
from .comm.retention_job import RetentionJob
from .comm.running_agent import RunningAgent
from .comm.services import Services
from .comm.settings_requests import SettingsRequests
from .comm.state import changes, full_state
from .comm.storage_notices import StorageNotices
from .comm.task_feed import TaskFeed
from .comm.task_reports import storage_report
from .comm.task_storage import TaskStorage
from .comm.verifications import Verifications
from .comm.websocket import ChannelHandler
from .config import ConfigChange, ContextProxy, SecretStore
from .errors import HdspAgentError
from .events import (
    ACCESS_SCHEMA,
    JupyterEvent,
    access_event,
    checkpoint_event,
    feedback_event,
    jupyter_event,
    memory_event,
    schema_paths,
)
from .ipc import FOLDER as IPC_FOLDER
from .ipc import IpcServer
from .local import LocalModels
from .messages import (
    ExternalAgentsUpdatedMessage,
    MemoryUpdatedMessage,
    NoticesUpdatedMessage,
    StateMessage,
    TaskEvent,
    TaskId,
    TaskTokenUsageUpdated,
    WebviewMessage,
    warm_up,
)
from .notebooks import Unreviewed, UnreviewedFiles
from .notebooks.documents.contents import ContentsNotebooks
from .persistence import AuditEntry, HistoryChange
from .telemetry import Monitoring, StorageReport
from .tools import PathPolicy

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import JsonValue
    from tornado.web import Application

    from .app import HdspAgentApp

__all__ = ["build_services", "start_services"]


def build_services(app: HdspAgentApp) -> Services:
    """Put everything together; nothing here touches disk, network or keyring."""
    configuration = _configuration(app)
    room = _conversations(app, configuration)
    notebooks = _notebooks(app, configuration, room)
    local_models = LocalModels(local_models_folder_of(app), policy=lambda: configuration.config.policy)
    mcp_servers = McpServersAccess(
        mcp_hub(configuration.config, workspace_of(app)), workspace_of(app), room.channels.publish_to
    )
    mcp_servers.register(room.dispatcher)
    agent, panels, requests = _agent(app, configuration, room, notebooks, local_models, mcp_servers)
    HistoryRequests(room.history, room.channels).register(room.dispatcher)
    ErrorDetails(room.history, configuration.config).register(room.dispatcher)
    ComposerRequests(agent, room.history, room.channels).register(room.dispatcher)
    ModeRequests(agent, configuration.config, room.channels).register(room.dispatcher)
    requests.register(room.dispatcher)
    checkpoints = CheckpointAccess(agent, room.history, panels, workspace_of(app))
    CheckpointRequests(checkpoints, room.history).register(room.dispatcher)
    NotebookRequests(agent, requests, panels, notebooks.notebooks).register(room.dispatcher)
    EmbeddedConversations(
        room.storage,
        room.history,
        panels,
        notebooks.notebooks.access,
        workspace_of(app),
        masked_kinds=lambda: configuration.config.settings.masked_kinds,
    ).register(room.dispatcher)
    SettingsRequests(
        configuration.config, configuration.notices, room.channels.publish_to_all, requests, notebooks.approvals
    ).register(room.dispatcher)
    memory = _memory(app, configuration, room, agent)

    async def deleted(owner: Owner, task_ids: list[str]) -> None:
        await memory.deleted(owner, task_ids)
        await agent.past.feed.removed(task_ids)

    def called(client: ExternalClient, tool: str, task_id: TaskId) -> None:
        room.audit.record(client.owner or room.storage.person, "change", f"mcp {client.name}: {tool}", task_id)

    def answered(client: ExternalClient, task_id: TaskId) -> None:
        room.audit.record(client.owner or room.storage.person, "change", f"mcp {client.name}: elicitation", task_id)

    agent.external.on_call = called
    agent.external.on_answer = answered
    room.history.on_deleted = deleted
    notebooks.notebooks.access.on_moved(memory.notebook_moved)
    retention = RetentionJob(room.storage, room.history, configuration.config, room.storage_notices, log=app.log)
    return Services(
        version=__version__,
        config=configuration.config,
        notices=configuration.notices,
        channels=room.channels,
        storage=room.storage,
        history=room.history,
        audit=room.audit,
        retention_job=retention,
        agent=agent,
        memory=memory,
        past=agent.past,
        recall_job=_recall(app, room, agent),
        checkpoints=checkpoints,
        notebooks=notebooks,
        panels=panels,
        local_models=local_models,
        kernel_variables=KernelVariables(notebooks.notebooks, checkpoints),
        ghost_text=_ghost_text(app, configuration, agent, notebooks, local_models),
        verifications=Verifications(
            notebooks.notebooks, checkpoints, has=notebooks.has, kernels_are_here=notebooks.has_local_kernels
        ),
        mcp_servers=mcp_servers,
        folder_trusts=FolderTrusts(configuration.config, room.history, workspace_of(app), room.channels.publish_to_all),
        hub_links=hub_links_of(app),
        mcp_endpoint=_mcp(app, configuration, room, agent),
        monitoring=Monitoring(room.storage.person if app.metrics_with_users else "", lambda: _stored_bytes(retention)),
        hub_reports=_hub_reports(app, room, agent, retention),
        ipc=_ipc(app, configuration, room, agent),
        max_body_bytes=app.max_body_bytes,
        describe_api=describe,
    )


@dataclass(frozen=True)
class _Configuration:
    home: Path
    config: ContextProxy
    notices: Notices


@dataclass(frozen=True)
class _Conversations:
    dispatcher: Dispatcher
    channels: ChannelHub
    storage_notices: StorageNotices
    storage: TaskStorage
    history: History
    audit: Audit

    def persons(self) -> list[Owner]:
        """Whose conversations are looked at in the background: whoever started the server, and who is here."""
        return list(dict.fromkeys((self.history.person, *self.channels.owners)))


def _configuration(app: HdspAgentApp) -> _Configuration:
    home, policy = home_of(app), policy_of(app)
    config = ContextProxy(home, policy, SecretStore(home, policy), user_config=user_config_of(app))
    return _Configuration(home, config, Notices(config))


def _conversations(app: HdspAgentApp, configuration: _Configuration) -> _Conversations:
    assert app.serverapp is not None
    config, notices = configuration.config, configuration.notices
    root = ContentsNotebooks(app.serverapp.contents_manager).root()

    async def task_exists(owner: Owner, task_id: str) -> bool:
        return await history.has(owner, task_id)

    audit = Audit(audit_log_of(app, configuration.home), log=app.log)

    def done(context: RequestContext, message: WebviewMessage, result: JsonValue) -> None:
        audit.request(context.owner, message, result, history.shown_id(context.owner))

    dispatcher = Dispatcher(log=app.log, task_exists=task_exists, on_done=done)

    def state_of(owner: Owner) -> StateMessage:
        shown = history.shown(owner)
        return full_state(
            __version__,
            config,
            notices,
            can_start_tasks=dispatcher.handles("newTask"),
            shown=shown,
            doing=history.details(shown.item.id) if shown else None,
            open_tasks=history.open_tasks.of(owner),
            checkpoint=history.checkpoint_of(shown.item.id) if shown else None,
            notebook_root=None if root is None else root.as_posix(),
        )

    channels = ChannelHub(
        version=__version__, dispatcher=dispatcher, state_of=state_of, limits=_channel_limits(app), log=app.log
    )

    def others_changed(change: HistoryChange) -> None:
        history.others_changed(change)

    storage_notices = StorageNotices(notices)
    storage = TaskStorage(
        configuration.home,
        backend_of(app),
        storage_notices,
        url=app.storage_url,
        artifact_store_url=artifact_store_of(app),
        person=person_of_server(),
        on_change=others_changed,
        remembered=app.max_memory_messages,
        recover_seconds=app.monitor_seconds,
        log=app.log,
    )
    history = History(storage, channels, ContextSizes(config))
    return _Conversations(dispatcher, channels, storage_notices, storage, history, audit)


def _channel_limits(app: HdspAgentApp) -> ChannelLimits:
    return ChannelLimits(
        max_frame_bytes=app.max_frame_bytes,
        ring_frames=app.ring_frames,
        ring_bytes=app.ring_bytes,
        heartbeat_seconds=app.heartbeat_seconds,
        write_seconds=app.slow_client_seconds,
    )


def _notebooks(app: HdspAgentApp, configuration: _Configuration, room: _Conversations) -> ServerNotebooks:
    assert app.serverapp is not None
    home, workspace = configuration.home, workspace_of(app)
    memory, unreviewed = NotebookMemory(home, workspace), Unreviewed(UnreviewedFiles(home, workspace))
    return ServerNotebooks(
        app.serverapp, room.channels, room.dispatcher, configuration.config, memory, unreviewed, log=app.log
    )


def _agent(
    app: HdspAgentApp,
    configuration: _Configuration,
    room: _Conversations,
    notebooks: ServerNotebooks,
    local_models: LocalModels,
    mcp_servers: McpServersAccess,
) -> tuple[RunningAgent, OpenPanels, AgentRequests]:
    workspace = workspace_of(app)
    feed = TaskFeed(room.history, room.channels, person_of_server())
    room.history.attach(feed)
    notebooks.notebooks.access.on_moved(room.history.notebook_moved)
    agent = RunningAgent(
        configuration.config,
        room.storage,
        feed,
        workspace=workspace,
        notebooks=notebooks.notebooks,
        local=local_models,
        mcp=mcp_servers.hub,
    )
    panels = OpenPanels(agent, room.history, PanelStateStore(configuration.home, workspace))
    room.channels.on_arrival(panels.arrived)
    return agent, panels, AgentRequests(agent, room.history, room.channels, panels, configuration.config)


def _ghost_text(
    app: HdspAgentApp,
    configuration: _Configuration,
    agent: RunningAgent,
    notebooks: ServerNotebooks,
    local_models: LocalModels,
) -> GhostText:
    workspace, home = workspace_of(app), configuration.home
    return GhostText(
        configuration.config,
        local_models,
        notebooks=notebooks.notebooks,
        paths=lambda: PathPolicy(workspace, forbidden=(home,), around=workspace),
        spacing=agent.spacing,
    )


def _recall(app: HdspAgentApp, room: _Conversations, agent: RunningAgent) -> RecallJob:
    return RecallJob(agent.past, room.storage.store, room.persons, log=app.log)


def _memory(
    app: HdspAgentApp, configuration: _Configuration, room: _Conversations, agent: RunningAgent
) -> MemoryAccess:
    config = configuration.config

    job = MemoryJob(
        agent.memory_pipeline,
        room.storage.store,
        room.persons,
        is_on=lambda: config.settings.memory_enabled,
        log=app.log,
    )
    return MemoryAccess(agent.memories, job, room.history, config, workspace_of(app), configuration.notices, app.log)


def _ipc(
    app: HdspAgentApp, configuration: _Configuration, room: _Conversations, agent: RunningAgent
) -> IpcServer | None:
    if not app.ipc_enabled:
        return None
    programs = AuditedPrograms(agent, room.audit, room.storage.person)
    return IpcServer(programs, configuration.home / IPC_FOLDER, log=app.log)


def _hub_reports(
    app: HdspAgentApp, room: _Conversations, agent: RunningAgent, retention: RetentionJob
) -> HubReports | None:
    target = hub_reports_of(app)
    if target is None:
        return None

    def storage() -> StorageReport | None:
        return None if retention.measured is None else storage_report(retention.measured)

    reports = HubReports(target, agent, room.audit, storage=storage, log=app.log)
    retention.on_measured = reports.hurry
    return reports


def _mcp(app: HdspAgentApp, configuration: _Configuration, room: _Conversations, agent: RunningAgent) -> McpEndpoint:
    config = configuration.config
    external = agent.external
    external.on_changed = lambda owner: room.channels.publish_to(
        room.history.person if owner is None else Owner(owner), ExternalAgentsUpdatedMessage()
    )
    return McpEndpoint(
        external,
        root=workspace_of(app),
        is_on=lambda: config.settings.mcp_server_enabled,
        max_body_bytes=app.max_body_bytes,
        write_seconds=app.slow_client_seconds,
    )


def _stored_bytes(retention: RetentionJob) -> int | None:
    return None if retention.measured is None else retention.measured.use.total_bytes


async def start_services(app: HdspAgentApp, services: Services) -> None:
    """Load what is on disk and let requests in."""
    # Building validators takes a few tenths of a second; neither the first frame nor other requests may wait for it.
    await asyncio.to_thread(warm_up)
    services.config.subscribe(lambda change: _tell_pages(services, change))
    services.config.subscribe(lambda change: services.mcp_endpoint.setting_changed())
    services.notices.subscribe(
        lambda: services.channels.publish_to_all(NoticesUpdatedMessage(notices=services.notices.standing))
    )
    await services.monitoring.start(services.agent.events, os.environ)
    services.agent.events.on_any(lambda event: _ask_for_budgets(services.config, event))
    await services.config.start()
    services.storage.start()
    services.retention_job.start()
    services.memory.start(lambda owner: services.channels.publish_to(owner, MemoryUpdatedMessage()))
    services.recall_job.start()
    if services.hub_reports is not None:
        services.hub_reports.start()
    await services.notebooks.start()
    _publish(app, services)
    await _serve_programs(app, services)


async def _serve_programs(app: HdspAgentApp, services: Services) -> None:
    """Open the socket for programs outside; without it everything else works."""
    if services.ipc is not None:
        try:
            await services.ipc.start()
        except HdspAgentError as error:
            app.log.warning("The socket for other programs could not be opened: %s", error.message)


def _publish(app: HdspAgentApp, services: Services) -> None:
    server = app.serverapp
    assert server is not None and server.event_logger is not None
    logger = server.event_logger
    for path in schema_paths():
        logger.register_event_schema(path)

    def audit(told: JupyterEvent | None) -> None:
        if told is not None:
            logger.emit(schema_id=told.schema_id, data=told.data)

    services.agent.events.on_any(lambda event: audit(jupyter_event(event)))
    services.agent.events.on_checkpoint(lambda event: audit(checkpoint_event(event)))
    services.agent.events.on_feedback(lambda event: audit(feedback_event(event)))

    services.memory.job.on_run = lambda event: audit(memory_event(event))

    def accessed(entry: AuditEntry) -> None:
        data = access_event(entry.user, entry.action, entry.via, entry.conversation)
        logger.emit(schema_id=ACCESS_SCHEMA, data=data)

    services.audit.on_entry = accessed
    web_app: Application = server.web_app
    web_app.settings.update({"hdsp_agent_services": services, "hdsp_agent_channels": services.channels})
    handlers = [
        ("/hdsp-agent/comm", ChannelHandler),
        (MCP_PATH, McpHandler),
        (MCP_LOGIN_PATH, McpLoginDoneHandler),
        *rest_handlers(),
    ]
    base_url = web_app.settings["base_url"]
    web_app.add_handlers(".*$", [(url_path_join(base_url, path), handler) for path, handler in handlers])


def _ask_for_budgets(config: ContextProxy, event: TaskEvent) -> None:
    if isinstance(event, TaskTokenUsageUpdated) and config.policy.hub_providers:
        config.ask_again()


def _tell_pages(services: Services, change: ConfigChange) -> None:
    for message in changes(change, services.config, services.notices):
        services.channels.publish_to_all(message)
