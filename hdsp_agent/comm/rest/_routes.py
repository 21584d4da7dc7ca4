"""Which path leads to which handler: the one table that serving and describing share."""

from __future__ import annotations

import re
from functools import cache

from pydantic import JsonValue

from ._openapi import openapi_document
from ._rest_endpoint import API_PATH, RestHandler

__all__ = ["API_PATH", "describe", "rest_handlers", "routes"]


@cache
def routes() -> dict[str, type[RestHandler]]:
    """Path templates below the API's own path, with their handlers."""
    from ._attachment_tokens import AttachmentTokensHandler
    from ._checkpoints import (
        CellVersionsHandler,
        CheckpointDiffHandler,
        CheckpointExportHandler,
        CheckpointFileHandler,
        CheckpointPreviewHandler,
        CheckpointRestoreHandler,
        CheckpointsHandler,
        CheckpointStoreHandler,
        CheckpointUndoHandler,
        CheckpointUndoPreviewHandler,
    )
    from ._databases import DatabaseSchemaHandler, DatabasesHandler
    from ._folder_trust import FolderTrustHandler, TrustedFoldersHandler
    from ._ghost_text import GhostTextHandler
    from ._health import HealthHandler, OpenApiHandler
    from ._history import HistoryHandler, HistoryItemHandler, HistoryPlacesHandler
    from ._kernel_restarts import (
        KernelRestartHandler,
        KernelRestartPreviewHandler,
        KernelRestartsHandler,
        KernelRestartStopHandler,
    )
    from ._local_models import (
        CancelLocalModelHandler,
        EmbeddedSetupHandler,
        HubModelsHandler,
        LocalModelHandler,
        LocalModelLicenceHandler,
        LocalModelsHandler,
        LocalRuntimeHandler,
    )
    from ._mcp_server import ExternalAgentHandler, McpServerHandler, McpServerTestHandler
    from ._mcp_servers import McpConnectHandler, McpLogHandler, McpLoginHandler, McpServersHandler
    from ._memory import (
        LearnedHandler,
        LearnedKeepHandler,
        MemoryHandler,
        MemoryRunHandler,
        MemoryUndoHandler,
        NoteHandler,
        NotesHandler,
    )
    from ._models import ModelsHandler
    from ._profiles import ActivateProfileHandler, ModeProfileHandler, ProfileHandler, ProfilesHandler
    from ._recall import RecallHandler, RecallMeaningHandler
    from ._secrets import SecretHandler, SecretsHandler, SecretStorageHandler
    from ._settings import SettingsExportHandler, SettingsHandler, SettingsImportHandler, SettingsSchemaHandler
    from ._setup import KeyCheckHandler, SetupCandidatesHandler, SetupUseHandler
    from ._share import TaskShareHandler
    from ._storage import StatisticsHandler, StorageHandler
    from ._tasks import (
        TaskArtifactHandler,
        TaskContextHandler,
        TaskExportHandler,
        TaskFindHandler,
        TaskHandler,
        TaskLogHandler,
        TaskNumbersHandler,
    )
    from ._variables import VariablesHandler, VariableTableHandler
    from ._verifications import VerificationHandler, VerificationsHandler, VerificationStopHandler

    return {
        "/health": HealthHandler,
        "/openapi.json": OpenApiHandler,
        "/settings": SettingsHandler,
        "/settings/schema": SettingsSchemaHandler,
        "/settings/export": SettingsExportHandler,
        "/settings/import": SettingsImportHandler,
        "/profiles": ProfilesHandler,
        "/profiles/{name}": ProfileHandler,
        "/profiles/{name}/activate": ActivateProfileHandler,
        "/modes/{mode}/profile": ModeProfileHandler,
        "/secrets": SecretsHandler,
        "/secrets/storage": SecretStorageHandler,
        "/secrets/{profile}/{key}": SecretHandler,
        "/folder-trust": FolderTrustHandler,
        "/trusted-folders": TrustedFoldersHandler,
        "/models": ModelsHandler,
        "/ghost-text": GhostTextHandler,
        "/attachments/tokens": AttachmentTokensHandler,
        "/local-models": LocalModelsHandler,
        "/local-models/{model}": LocalModelHandler,
        "/local-models/{model}/cancel": CancelLocalModelHandler,
        "/local-models/{model}/license": LocalModelLicenceHandler,
        "/hub-models": HubModelsHandler,
        "/local-runtime": LocalRuntimeHandler,
        "/setup/candidates": SetupCandidatesHandler,
        "/setup/use": SetupUseHandler,
        "/setup/check": KeyCheckHandler,
        "/setup/embedded": EmbeddedSetupHandler,
        "/history": HistoryHandler,
        # Before the next one, whose pattern it fits; no task is called that.
        "/history/places": HistoryPlacesHandler,
        "/history/{task}": HistoryItemHandler,
        "/tasks/{task}": TaskHandler,
        "/tasks/{task}/logs/{log}": TaskLogHandler,
        "/tasks/{task}/context": TaskContextHandler,
        "/tasks/{task}/find": TaskFindHandler,
        "/tasks/{task}/numbers": TaskNumbersHandler,
        "/tasks/{task}/artifacts/{artifact}": TaskArtifactHandler,
        "/tasks/{task}/export": TaskExportHandler,
        "/tasks/{task}/share": TaskShareHandler,
        "/checkpoints": CheckpointsHandler,
        "/checkpoints/cells": CellVersionsHandler,
        "/checkpoints/store": CheckpointStoreHandler,
        "/checkpoints/{checkpoint}/diff": CheckpointDiffHandler,
        "/checkpoints/{checkpoint}/file": CheckpointFileHandler,
        "/checkpoints/{checkpoint}/export": CheckpointExportHandler,
        "/checkpoints/{checkpoint}/preview": CheckpointPreviewHandler,
        "/checkpoints/{checkpoint}/restore": CheckpointRestoreHandler,
        "/checkpoint-operations/{operation}/preview": CheckpointUndoPreviewHandler,
        "/checkpoint-operations/{operation}/undo": CheckpointUndoHandler,
        "/kernel-restarts": KernelRestartsHandler,
        # Before the next one, whose pattern it fits; no run is called that.
        "/kernel-restarts/preview": KernelRestartPreviewHandler,
        "/kernel-restarts/{run}": KernelRestartHandler,
        "/kernel-restarts/{run}/stop": KernelRestartStopHandler,
        "/databases": DatabasesHandler,
        "/databases/schema": DatabaseSchemaHandler,
        "/variables": VariablesHandler,
        "/variables/table": VariableTableHandler,
        "/verifications": VerificationsHandler,
        "/verifications/{verification}": VerificationHandler,
        "/verifications/{verification}/stop": VerificationStopHandler,
        "/memory": MemoryHandler,
        "/memory/notes": NotesHandler,
        "/memory/notes/{note}": NoteHandler,
        "/memory/learned/{item}": LearnedHandler,
        "/memory/learned/{item}/keep": LearnedKeepHandler,
        "/memory/run": MemoryRunHandler,
        "/memory/undo": MemoryUndoHandler,
        "/mcp/servers": McpServersHandler,
        "/mcp/servers/connect": McpConnectHandler,
        "/mcp/servers/{server}/log": McpLogHandler,
        "/mcp/servers/{server}/login": McpLoginHandler,
        "/recall": RecallHandler,
        "/recall/meaning": RecallMeaningHandler,
        "/mcp/server": McpServerHandler,
        "/mcp/server/test": McpServerTestHandler,
        "/mcp/server/agents/{agent}": ExternalAgentHandler,
        "/statistics": StatisticsHandler,
        "/storage": StorageHandler,
    }


def rest_handlers() -> list[tuple[str, type[RestHandler]]]:
    """The table as Tornado takes it."""
    return [(API_PATH + _pattern(path), handler) for path, handler in routes().items()]


def describe(version: str) -> dict[str, JsonValue]:
    """The OpenAPI document of what runs."""
    return openapi_document(version, routes())


def _pattern(template: str) -> str:
    return re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(template))
