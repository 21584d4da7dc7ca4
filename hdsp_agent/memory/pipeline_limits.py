"""The numbers of the memory pipeline: those that its design names, and the limits of what is kept."""

from __future__ import annotations

from typing import Final

__all__ = [
    "CONSOLIDATION_COOLDOWN_SECONDS",
    "CONTEXT_WINDOW_PERCENT",
    "DEFAULT_STAGE_ONE_ROLLOUT_TOKEN_LIMIT",
    "EFFECTIVE_WINDOW_PERCENT",
    "EXTRACTION_CONCURRENCY_LIMIT",
    "JOB_HEARTBEAT_SECONDS",
    "JOB_LEASE_SECONDS",
    "JOB_RETRIES",
    "JOB_RETRY_SECONDS",
    "MAX_CONSOLIDATION_INPUTS",
    "MAX_CONVERSATIONS_PER_ROUND",
    "MAX_CONVERSATION_AGE_DAYS",
    "MAX_UNUSED_DAYS",
    "MEMORY_TOOL_DEVELOPER_INSTRUCTIONS_SUMMARY_TOKEN_LIMIT",
    "MIN_IDLE_HOURS",
    "THREAD_SCAN_LIMIT",
]

THREAD_SCAN_LIMIT: Final = 5_000
"""Conversations of the history that one round looks at."""
EXTRACTION_CONCURRENCY_LIMIT: Final = 8
"""Conversations that are read at a time."""
MAX_CONVERSATIONS_PER_ROUND: Final = 16
MAX_CONVERSATION_AGE_DAYS: Final = 30
MIN_IDLE_HOURS: Final = 6
"""A conversation is finished when nothing was said in it for so long."""
JOB_LEASE_SECONDS: Final = 3_600
JOB_HEARTBEAT_SECONDS: Final = 90
JOB_RETRY_SECONDS: Final = 3_600
JOB_RETRIES: Final = 3
DEFAULT_STAGE_ONE_ROLLOUT_TOKEN_LIMIT: Final = 150_000
"""Of a conversation, where the model's window is not known."""
CONTEXT_WINDOW_PERCENT: Final = 70
"""Of the model's effective window, for the conversation."""
EFFECTIVE_WINDOW_PERCENT: Final = 95
MAX_CONSOLIDATION_INPUTS: Final = 256
MAX_UNUSED_DAYS: Final = 30
"""What was learned and not used for so long is left out of the next consolidation."""
CONSOLIDATION_COOLDOWN_SECONDS: Final = 6 * 3_600
MEMORY_TOOL_DEVELOPER_INSTRUCTIONS_SUMMARY_TOKEN_LIMIT: Final = 5_000
"""Of the summary, in what a model is told."""
