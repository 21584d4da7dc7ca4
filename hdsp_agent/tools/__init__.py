"""What the agent can do: files, search, shell, the flow of a task, fetching; one registry."""

from __future__ import annotations

from ._action import ActionRequest, Risk
from ._command_line import Script, SimpleCommand, parse_script
from ._deceptive_characters import strange_characters
from ._edit_check import unified_diff
from ._file_access import open_file
from ._folder_walk import FolderWalk
from ._ignore import IGNORE_FILE
from ._mcp_port import (
    MCP_PREFIX,
    AskPerson,
    McpAnswer,
    McpImage,
    McpOffer,
    McpPart,
    McpResource,
    McpServers,
    OfferedMcpTool,
    Progressed,
)
from ._output_buffer import middle_left_out
from ._path_policy import PathPolicy, holds_credentials, is_protected_name
from ._plain_command import NotPlain, PlainCommand, PlainRedirection, PlainScript, PlainWord, parse_plain
from ._plain_rendering import render
from ._process import command_environment
from ._registry import ToolRegistry, built_in_tools, file_tools, program_tools
from ._running_commands import RunningCommands
from ._structured import StructuredOutput, failure_of, output_schema
from ._task_tools import AttemptCompletion, AttemptCompletionArguments
from ._todo_checklist import format_todos, parse_todos
from ._tool import (
    Approval,
    ApprovalAsk,
    Completion,
    PastCall,
    Proposal,
    PutBack,
    SimpleTool,
    SinceAsked,
    Tool,
    ToolArguments,
    ToolContext,
    ToolResult,
    answered,
    data_url,
    denied,
)
from ._tool_failed import PresentCell, ToolFailed
from ._tool_state import KeptOutput, ToolState
from ._watched_process import KILL, WatchedProcess
from .mcp import MOST_OFFERED_MCP_TOOLS, answer_blocks, offers_search
from .notebook import NotebookSummary, notebook_digest, place_of

__all__ = [
    "IGNORE_FILE",
    "KILL",
    "MCP_PREFIX",
    "MOST_OFFERED_MCP_TOOLS",
    "ActionRequest",
    "Approval",
    "ApprovalAsk",
    "AskPerson",
    "AttemptCompletion",
    "AttemptCompletionArguments",
    "Completion",
    "FolderWalk",
    "KeptOutput",
    "McpAnswer",
    "McpImage",
    "McpOffer",
    "McpPart",
    "McpResource",
    "McpServers",
    "NotPlain",
    "NotebookSummary",
    "OfferedMcpTool",
    "PastCall",
    "PathPolicy",
    "PlainCommand",
    "PlainRedirection",
    "PlainScript",
    "PlainWord",
    "PresentCell",
    "Progressed",
    "Proposal",
    "PutBack",
    "Risk",
    "RunningCommands",
    "Script",
    "SimpleCommand",
    "SimpleTool",
    "SinceAsked",
    "StructuredOutput",
    "Tool",
    "ToolArguments",
    "ToolContext",
    "ToolFailed",
    "ToolRegistry",
    "ToolResult",
    "ToolState",
    "WatchedProcess",
    "answer_blocks",
    "answered",
    "built_in_tools",
    "command_environment",
    "data_url",
    "denied",
    "failure_of",
    "file_tools",
    "format_todos",
    "holds_credentials",
    "is_protected_name",
    "middle_left_out",
    "notebook_digest",
    "offers_search",
    "open_file",
    "output_schema",
    "parse_plain",
    "parse_script",
    "parse_todos",
    "place_of",
    "program_tools",
    "render",
    "strange_characters",
    "unified_diff",
]
