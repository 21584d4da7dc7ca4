"""What happens inside, told from one place: to the panel, to programs outside, to Jupyter's event system, to monitoring."""

from __future__ import annotations

from ._checkpoints import CheckpointEvent
from ._emitter import Dispose, Emitter, task_id_of
from ._feedback import FeedbackEvent
from ._jupyter import (
    ACCESS_SCHEMA,
    CHECKPOINT_SCHEMA,
    FEEDBACK_SCHEMA,
    MEMORY_SCHEMA,
    SESSION_SCHEMA,
    TASK_SCHEMA,
    JupyterEvent,
    access_event,
    checkpoint_event,
    feedback_event,
    jupyter_event,
    memory_event,
    schema_paths,
)
from ._memory import MemoryEvent
from ._tools import ROO_TOOLS, roo_usage, tool_failed, tool_of
from ._work import ModelRequestEnded, ToolCallEnded, TurnEnded, TurnStarted, WorkEvent

__all__ = [
    "ACCESS_SCHEMA",
    "CHECKPOINT_SCHEMA",
    "FEEDBACK_SCHEMA",
    "MEMORY_SCHEMA",
    "ROO_TOOLS",
    "SESSION_SCHEMA",
    "TASK_SCHEMA",
    "CheckpointEvent",
    "Dispose",
    "Emitter",
    "FeedbackEvent",
    "JupyterEvent",
    "MemoryEvent",
    "ModelRequestEnded",
    "ToolCallEnded",
    "TurnEnded",
    "TurnStarted",
    "WorkEvent",
    "access_event",
    "checkpoint_event",
    "feedback_event",
    "jupyter_event",
    "memory_event",
    "roo_usage",
    "schema_paths",
    "task_id_of",
    "tool_failed",
    "tool_of",
]
