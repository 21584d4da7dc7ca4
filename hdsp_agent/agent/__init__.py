"""A task: what it says and asks, its loop, its limits, and the one class through which others reach it."""

from __future__ import annotations

from ._agent_services import AgentServices, Spacing
from ._factory import Headless, build_agent, headless_agent, mcp_hub
from ._ipc_commands import IpcCommandSession
from ._ports import ConversationShown, NoListener, Situation
from ._task_manager import TaskManager, TaskRequest
from .checkpoints.checkpoint_service import CheckpointService
from .checkpoints.kernel_restarts import KernelRestarts, RestartTarget
from .context_window import FullContext, SeenRequest, seen_by_model
from .conversation.asks import AskNotOpen
from .git import search_commits
from .prompts._mode_prompts import mode_prompt
from .prompts._prompt_improvement import enhanced_prompt
from .task.task import Task

__all__ = [
    "AgentServices",
    "AskNotOpen",
    "CheckpointService",
    "ConversationShown",
    "FullContext",
    "Headless",
    "IpcCommandSession",
    "KernelRestarts",
    "NoListener",
    "RestartTarget",
    "SeenRequest",
    "Situation",
    "Spacing",
    "Task",
    "TaskManager",
    "TaskRequest",
    "build_agent",
    "enhanced_prompt",
    "headless_agent",
    "mcp_hub",
    "mode_prompt",
    "search_commits",
    "seen_by_model",
]
