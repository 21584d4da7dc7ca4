"""MCP servers that the agent uses: the person's own, and those that a trusted folder brings."""

from __future__ import annotations

from ._config_files import PROJECT_FILE, ConfigFile, project_servers
from ._hub import Imported, McpHub
from ._listing import Prompt
from ._prompts import PROMPT_PREFIX, prompt_command
from ._server_config import ServerConfig, Source
from ._server_state import ServerState
from ._task_servers import TaskServers

__all__ = [
    "PROJECT_FILE",
    "PROMPT_PREFIX",
    "ConfigFile",
    "Imported",
    "McpHub",
    "Prompt",
    "ServerConfig",
    "ServerState",
    "Source",
    "TaskServers",
    "project_servers",
    "prompt_command",
]
