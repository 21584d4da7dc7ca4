"""The kinds a conversation is made of: what the agent asks, what it says, and what state that leaves a task in."""

from typing import Final, Literal, get_args

from ._additions import OwnSay

__all__ = [
    "LEGACY_ASKS",
    "LEGACY_SAYS",
    "AnyAsk",
    "AnySay",
    "AskClass",
    "ClineAsk",
    "ClineAskResponse",
    "ClineSay",
    "IdleAsk",
    "InteractiveAsk",
    "LegacyAsk",
    "LegacySay",
    "NonBlockingAsk",
    "ResumableAsk",
    "RooSay",
    "TaskStatus",
    "ask_class",
    "status_during",
]

IdleAsk = Literal[
    "completion_result",
    "api_req_failed",
    "resume_completed_task",
    "mistake_limit_reached",
    "auto_approval_max_req_reached",
]
ResumableAsk = Literal["resume_task"]
InteractiveAsk = Literal["followup", "command", "tool", "use_mcp_server"]
NonBlockingAsk = Literal["command_output"]

ClineAsk = Literal[IdleAsk, ResumableAsk, InteractiveAsk, NonBlockingAsk]
"""The asks we emit."""

LegacyAsk = Literal["browser_action_launch"]
"""Asks of older conversations: read, never emitted."""

AnyAsk = Literal[ClineAsk, LegacyAsk]

RooSay = Literal[
    "error",
    "api_req_started",
    "api_req_finished",
    "api_req_retried",
    "api_req_retry_delayed",
    "api_req_rate_limit_wait",
    "api_req_deleted",
    "text",
    "image",
    "reasoning",
    "completion_result",
    "user_feedback",
    "user_feedback_diff",
    "command_output",
    "shell_integration_warning",
    "mcp_server_request_started",
    "mcp_server_response",
    "subtask_result",
    "checkpoint_saved",
    "rooignore_error",
    "diff_error",
    "condense_context",
    "condense_context_error",
    "sliding_window_truncation",
    "codebase_search_result",
    "user_edit_todos",
    "too_many_tools_warning",
    "tool",
]

ClineSay = Literal[RooSay, OwnSay]
"""The says we emit: Roo Code's and our own."""

LegacySay = Literal["browser_action", "browser_action_result", "browser_session_status"]
"""Says of older conversations: read, never emitted."""

AnySay = Literal[ClineSay, LegacySay]

ClineAskResponse = Literal["yesButtonClicked", "noButtonClicked", "messageResponse", "objectResponse"]
TaskStatus = Literal["running", "interactive", "resumable", "idle", "none"]
AskClass = Literal["idle", "resumable", "interactive", "non_blocking"]

LEGACY_ASKS: Final = frozenset(get_args(LegacyAsk))
LEGACY_SAYS: Final = frozenset(get_args(LegacySay))

_CLASS_OF_ASK: Final[dict[str, AskClass]] = {
    **dict.fromkeys(get_args(IdleAsk), "idle"),
    **dict.fromkeys(get_args(ResumableAsk), "resumable"),
    **dict.fromkeys(get_args(InteractiveAsk), "interactive"),
    # The approval of a browser launch waited for the person like any other tool's.
    **dict.fromkeys(get_args(LegacyAsk), "interactive"),
    **dict.fromkeys(get_args(NonBlockingAsk), "non_blocking"),
}


def ask_class(ask: AnyAsk) -> AskClass:
    """The one class an ask belongs to."""
    return _CLASS_OF_ASK[ask]


def status_during(ask: AnyAsk) -> TaskStatus:
    """The status of a task while this ask is its last word."""
    kind = ask_class(ask)
    return "running" if kind == "non_blocking" else kind
