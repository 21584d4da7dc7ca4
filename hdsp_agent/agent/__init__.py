"""A task: what it says and asks, its loop, its limits, and the one door through which others reach it."""

from __future__ import annotations

from ._asks import AskAnswer, AskNotOpen, Given
from ._build import Headless, build_agent, headless_agent
from ._commands import CommandSession
from ._enhancing import enhanced_prompt
from ._kernel_restarts import UpTo
from ._manager import TaskManager, TaskRequest
from ._mode_prompts import mode_prompt
from ._models import ProfileModels
from ._ports import (
    ContextPort,
    Contexts,
    ConversationShown,
    HistoryPort,
    MessageSink,
    Models,
    Modes,
    Situation,
    Unheard,
)
from ._services import AgentServices, Spacing
from ._task import Task
from ._workspace_moments import WorkspaceMoments
from .context import PlainContext, SeenRequest, seen_by_model
from .git import search_commits

__all__ = [
    "AgentServices",
    "AskAnswer",
    "AskNotOpen",
    "CommandSession",
    "ContextPort",
    "Contexts",
    "ConversationShown",
    "Given",
    "Headless",
    "HistoryPort",
    "MessageSink",
    "Models",
    "Modes",
    "PlainContext",
    "ProfileModels",
    "SeenRequest",
    "Situation",
    "Spacing",
    "Task",
    "TaskManager",
    "TaskRequest",
    "Unheard",
    "UpTo",
    "WorkspaceMoments",
    "build_agent",
    "enhanced_prompt",
    "headless_agent",
    "mode_prompt",
    "search_commits",
    "seen_by_model",
]
