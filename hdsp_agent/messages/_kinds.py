"""The kinds a conversation is made of: what the agent asks, what it says, and what state that leaves a task in."""

from typing import Final, Literal, get_args

from ._additions import OwnSay

__all__ = [
    "LEGACY_ASKS",
    "LEGACY_SAYS",
    "UNWRITTEN_SAYS",
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
    "StoppedBy",
    "TaskStatus",
    "UnwrittenSay",
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

UnwrittenSay = Literal[
    "api_req_finished",
    "api_req_deleted",
    "shell_integration_warning",
    "rooignore_error",
    "diff_error",
]
"""Says of Roo Code that we do not emit: read in conversations that were imported."""

_RooSayWritten = Literal[
    "mcp_server_request_started",
    "mcp_server_response",
    "too_many_tools_warning",
    "error",
    "api_req_started",
    "api_req_retried",
    "api_req_retry_delayed",
    "api_req_rate_limit_wait",
    "text",
    "image",
    "reasoning",
    "completion_result",
    "user_feedback",
    "user_feedback_diff",
    "command_output",
    "subtask_result",
    "checkpoint_saved",
    "codebase_search_result",
    "condense_context",
    "condense_context_error",
    "sliding_window_truncation",
    "user_edit_todos",
    "tool",
]

RooSay = Literal[_RooSayWritten, UnwrittenSay]
"""All of Roo Code's says."""

ClineSay = Literal[_RooSayWritten, OwnSay]
"""The says we emit: Roo Code's and our own."""

LegacySay = Literal["browser_action", "browser_action_result", "browser_session_status"]
"""Says of older conversations: read, never emitted."""

AnySay = Literal[ClineSay, UnwrittenSay, LegacySay]

ClineAskResponse = Literal["yesButtonClicked", "noButtonClicked", "messageResponse", "objectResponse"]
TaskStatus = Literal["running", "interactive", "resumable", "idle", "none"]
StoppedBy = Literal["person", "administrator"]
"""Who stopped the work on a task: the person themselves, or an administrator of their hub."""
AskClass = Literal["idle", "resumable", "interactive", "non_blocking"]

LEGACY_ASKS: Final = frozenset(get_args(LegacyAsk))
LEGACY_SAYS: Final = frozenset(get_args(LegacySay))
UNWRITTEN_SAYS: Final[dict[UnwrittenSay, str]] = {
    "api_req_finished": "`api_req_started` itself gets the tokens and the cost when the request ends",
    "api_req_deleted": "what was removed stays in the log, and still counts",
    "shell_integration_warning": "it is about the terminals of VS Code",
    "rooignore_error": "the `tool` message that was refused says why in `failure`",
    "diff_error": "the `tool` message of the change that does not fit says why in `failure`",
}
"""Why they are not needed."""

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
