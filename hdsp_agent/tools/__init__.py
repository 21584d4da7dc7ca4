"""What the agent can do: files, search, shell, the flow of a task, fetching; one registry."""

from __future__ import annotations

from ._action import ActionRequest, Risk
from ._commands import CommandBoard, CommandListener
from ._fetch_url import FETCH_EXPERIMENT, PRIVATE_EXPERIMENT
from ._ignore import IGNORE_FILE
from ._paths import PathPolice, PolicedPath
from ._registry import ToolRegistry, built_in_tools
from ._state import SeenFiles, ToolState
from ._todos import format_todos, parse_todos
from ._tool import (
    Approval,
    ApprovalAsk,
    AskReply,
    Completion,
    FlowPort,
    SimpleTool,
    Tool,
    ToolArguments,
    ToolContext,
    ToolFailed,
    ToolResult,
)

__all__ = [
    "FETCH_EXPERIMENT",
    "IGNORE_FILE",
    "PRIVATE_EXPERIMENT",
    "ActionRequest",
    "Approval",
    "ApprovalAsk",
    "AskReply",
    "CommandBoard",
    "CommandListener",
    "Completion",
    "FlowPort",
    "PathPolice",
    "PolicedPath",
    "Risk",
    "SeenFiles",
    "SimpleTool",
    "Tool",
    "ToolArguments",
    "ToolContext",
    "ToolFailed",
    "ToolRegistry",
    "ToolResult",
    "ToolState",
    "built_in_tools",
    "format_todos",
    "parse_todos",
]
