"""A task: what it says and asks, its loop, its limits, and the one door through which others reach it."""

from __future__ import annotations

from ._agent_services import AgentServices, Spacing
from ._factory import Headless, build_agent, headless_agent
from ._ipc_commands import IpcCommandSession
from ._ports import ConversationShown, HistoryPort, MessageSink, Models, Modes, NoListener, Situation
from ._profile_models import ProfileModels
from ._task_manager import TaskManager, TaskRequest
from .checkpoints.checkpoint_service import CheckpointService
from .checkpoints.kernel_restarts import KernelRestarts, RestartTarget
from .context_window import FullContext, SeenRequest, seen_by_model
from .context_window.port import ContextPort, Contexts
from .conversation.asks import AskAnswer, AskNotOpen, GivenAnswer
from .git import search_commits
from .prompts._mode_prompts import mode_prompt
from .prompts._prompt_improvement import enhanced_prompt
from .task.task import Task

__all__ = [
    "AgentServices",
    "AskAnswer",
    "AskNotOpen",
    "CheckpointService",
    "ContextPort",
    "Contexts",
    "ConversationShown",
    "FullContext",
    "GivenAnswer",
    "Headless",
    "HistoryPort",
    "IpcCommandSession",
    "KernelRestarts",
    "MessageSink",
    "Models",
    "Modes",
    "NoListener",
    "ProfileModels",
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
    "mode_prompt",
    "search_commits",
    "seen_by_model",
]
