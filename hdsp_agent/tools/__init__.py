"""What the agent can do: files, search, shell, the flow of a task, fetching; one registry."""

from __future__ import annotations

from ._action import ActionRequest, Risk
from ._command_line import CommandWord, Script, SimpleCommand, parse_script
from ._commands import CommandBoard, CommandListener
from ._edit import unified_diff
from ._ignore import IGNORE_FILE
from ._paths import PathPolice, PolicedPath, is_protected_name
from ._plain_command import NotPlain, PlainCommand, PlainRedirection, PlainScript, PlainWord, parse_plain
from ._plain_rendering import render
from ._registry import ToolRegistry, built_in_tools
from ._state import KeptOutput, SeenFiles, ToolState
from ._strange_characters import strange_characters
from ._todos import format_todos, parse_todos
from ._tool import (
    Approval,
    ApprovalAsk,
    AskReply,
    Completion,
    FlowPort,
    PastCall,
    Proposal,
    SimpleTool,
    SinceAsked,
    Tool,
    ToolArguments,
    ToolContext,
    ToolFailed,
    ToolResult,
    data_url,
)
from .notebook import NotebookDigest, notebook_digest

__all__ = [
    "IGNORE_FILE",
    "ActionRequest",
    "Approval",
    "ApprovalAsk",
    "AskReply",
    "CommandBoard",
    "CommandListener",
    "CommandWord",
    "Completion",
    "FlowPort",
    "KeptOutput",
    "NotPlain",
    "NotebookDigest",
    "PastCall",
    "PathPolice",
    "PlainCommand",
    "PlainRedirection",
    "PlainScript",
    "PlainWord",
    "PolicedPath",
    "Proposal",
    "Risk",
    "Script",
    "SeenFiles",
    "SimpleCommand",
    "SimpleTool",
    "SinceAsked",
    "Tool",
    "ToolArguments",
    "ToolContext",
    "ToolFailed",
    "ToolRegistry",
    "ToolResult",
    "ToolState",
    "built_in_tools",
    "data_url",
    "format_todos",
    "is_protected_name",
    "notebook_digest",
    "parse_plain",
    "parse_script",
    "parse_todos",
    "render",
    "strange_characters",
    "unified_diff",
]
