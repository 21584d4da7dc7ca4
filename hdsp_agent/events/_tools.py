"""Tools in events: clients of Roo Code's types reject an event that names a tool they do not know."""

from __future__ import annotations

from typing import Final, Literal, get_args

from ..messages import TaskId, TaskToolFailed, ToolCounts, ToolUsage

__all__ = ["ROO_TOOLS", "RooTool", "roo_usage", "tool_failed", "tool_of"]

RooTool = Literal[
    "execute_command",
    "read_file",
    "read_command_output",
    "write_to_file",
    "apply_diff",
    "edit",
    "search_and_replace",
    "search_replace",
    "edit_file",
    "apply_patch",
    "search_files",
    "list_files",
    "use_mcp_tool",
    "access_mcp_resource",
    "ask_followup_question",
    "attempt_completion",
    "switch_mode",
    "new_task",
    "codebase_search",
    "update_todo_list",
    "run_slash_command",
    "skill",
    "generate_image",
    "custom_tool",
]
ROO_TOOLS: Final[frozenset[str]] = frozenset(get_args(RooTool))
_ANY_OTHER: Final[RooTool] = "custom_tool"
"""What Roo Code calls a tool that is not one of its own."""
_LONGEST_NAME: Final = 200


def tool_failed(task_id: TaskId, tool: str, error: str) -> TaskToolFailed:
    """A tool failed; a name that Roo Code does not know goes beside the payload."""
    if tool in ROO_TOOLS:
        return TaskToolFailed(payload=(task_id, tool, error))
    return TaskToolFailed(payload=(task_id, _ANY_OTHER, error), tool=tool[:_LONGEST_NAME])


def tool_of(event: TaskToolFailed) -> str:
    """The tool that failed, by its own name."""
    return event.tool or event.payload[1]


def roo_usage(tools: ToolUsage) -> ToolUsage:
    """The same counts under names Roo Code knows: all other tools as one."""
    told = {name: counts for name, counts in tools.items() if name in ROO_TOOLS}
    others = [counts for name, counts in tools.items() if name not in ROO_TOOLS or name == _ANY_OTHER]
    if others:
        told[_ANY_OTHER] = ToolCounts(
            attempts=sum(counts.attempts for counts in others), failures=sum(counts.failures for counts in others)
        )
    return told
