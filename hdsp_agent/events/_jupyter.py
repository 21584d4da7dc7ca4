"""Events as Jupyter's event system hears them: for operators and audit, without a word of what was said."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import JsonValue

from ..messages import (
    CommandsResponse,
    EvalFail,
    EvalPass,
    MessageEvent,
    ModeChanged,
    ModelsResponse,
    ModesResponse,
    ProviderProfileChanged,
    QueuedMessagesUpdated,
    TaskCompleted,
    TaskDelegated,
    TaskDelegationCompleted,
    TaskDelegationResumed,
    TaskEvent,
    TaskModeSwitched,
    TaskSpawned,
    TaskTokenUsageUpdated,
    TaskToolFailed,
    TokenUsage,
)
from ._checkpoints import CheckpointEvent
from ._emitter import task_id_of
from ._feedback import FeedbackEvent
from ._memory import MemoryEvent
from ._tools import tool_of

__all__ = [
    "ACCESS_SCHEMA",
    "CHECKPOINT_SCHEMA",
    "FEEDBACK_SCHEMA",
    "MEMORY_SCHEMA",
    "SESSION_SCHEMA",
    "TASK_SCHEMA",
    "JupyterEvent",
    "access_event",
    "checkpoint_event",
    "feedback_event",
    "jupyter_event",
    "memory_event",
    "schema_paths",
]

TASK_SCHEMA: Final = "https://hdsp-agent.github.io/events/task/v1"
ACCESS_SCHEMA: Final = "https://hdsp-agent.github.io/events/access/v1"
CHECKPOINT_SCHEMA: Final = "https://hdsp-agent.github.io/events/checkpoint/v1"
FEEDBACK_SCHEMA: Final = "https://hdsp-agent.github.io/events/feedback/v1"
MEMORY_SCHEMA: Final = "https://hdsp-agent.github.io/events/memory/v1"
SESSION_SCHEMA: Final = "https://hdsp-agent.github.io/events/session/v1"

_TOOL_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")
_SCHEMAS: Final = Path(__file__).parent / "schemas"


class JupyterEvent(NamedTuple):
    """What to emit, under which schema."""

    schema_id: str
    data: dict[str, JsonValue]


def schema_paths() -> list[Path]:
    """The schemas to register with Jupyter's event logger."""
    return sorted(_SCHEMAS.glob("*.yaml"))


def jupyter_event(event: TaskEvent) -> JupyterEvent | None:
    """The event for Jupyter's logger; nothing for answers to one client's questions and for evaluation runs."""
    match event:
        case CommandsResponse() | ModesResponse() | ModelsResponse() | EvalPass() | EvalFail():
            return None
        case ModeChanged(payload=(mode,)):
            return JupyterEvent(SESSION_SCHEMA, {"event": event.event_name, "mode": mode})
        case ProviderProfileChanged(payload=(profile,)):
            return JupyterEvent(SESSION_SCHEMA, {"event": event.event_name, "provider": profile.provider})
        case _:
            return JupyterEvent(TASK_SCHEMA, {"event": event.event_name, **_about_task(event)})


def access_event(user: str, action: str, via: str, conversation: str | None) -> dict[str, JsonValue]:
    """What Jupyter's logger hears of an access, under ``ACCESS_SCHEMA``."""
    data: dict[str, JsonValue] = {"user": user, "action": action, "via": via}
    return data if conversation is None else {**data, "task_id": conversation}


def checkpoint_event(event: CheckpointEvent) -> JupyterEvent:
    """The event of a workspace's checkpoints for Jupyter's logger."""
    data: dict[str, JsonValue] = {"event": event.event, "duration_ms": event.duration_ms}
    data |= {name: value for name in ("task_id", "commit") if (value := getattr(event, name)) is not None}
    return JupyterEvent(CHECKPOINT_SCHEMA, data)


def feedback_event(event: FeedbackEvent) -> JupyterEvent:
    """What Jupyter's logger hears of a rating: never the reason."""
    return JupyterEvent(
        FEEDBACK_SCHEMA, {"task_id": event.task_id, "rating": event.rating, "has_reason": event.has_reason}
    )


def memory_event(event: MemoryEvent) -> JupyterEvent:
    """What Jupyter's logger hears of the memory work."""
    data: dict[str, JsonValue] = {"event": event.event, "user": event.user, "outcome": event.outcome}
    data |= {name: value for name in ("task_id", "model") if (value := getattr(event, name)) is not None}
    return JupyterEvent(
        MEMORY_SCHEMA, {**data, "tokens_in": event.tokens_in, "tokens_out": event.tokens_out, "cost": event.cost}
    )


def _about_task(event: TaskEvent) -> dict[str, JsonValue]:
    match event:
        case MessageEvent(payload=(change,)):
            kind = change.message.ask if change.message.type == "ask" else change.message.say
            data: dict[str, JsonValue] = {"task_id": change.task_id, "action": change.action}
            return {**data, "type": change.message.type, "kind": kind} if kind else data
        case TaskCompleted(payload=(task_id, usage, tools, info)):
            failures = sum(counts.failures for counts in tools.values())
            return {"task_id": task_id, **_usage(usage), "tool_failures": failures, "is_subtask": info.is_subtask}
        case TaskTokenUsageUpdated(payload=(task_id, usage, _)):
            return {"task_id": task_id, **_usage(usage)}
        case TaskSpawned() | TaskDelegated() | TaskDelegationCompleted() | TaskDelegationResumed():
            return {"task_id": event.payload[0], "child_id": event.payload[1]}
        case TaskModeSwitched(payload=(task_id, mode)):
            return {"task_id": task_id, "mode": mode}
        case TaskToolFailed(payload=(task_id, _, _)):
            tool = tool_of(event)
            # A model may call for a tool there is not, by any words.
            return {"task_id": task_id, "tool": tool if _TOOL_NAME.fullmatch(tool) else event.payload[1]}
        case QueuedMessagesUpdated(payload=(task_id, queue)):
            return {"task_id": task_id, "queued": len(queue)}
        case _:
            return {"task_id": task_id_of(event)}


def _usage(usage: TokenUsage) -> dict[str, JsonValue]:
    return {
        "tokens_in": usage.total_tokens_in,
        "tokens_out": usage.total_tokens_out,
        "cost": usage.total_cost,
        "context_tokens": usage.context_tokens,
    }
