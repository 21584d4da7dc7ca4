"""What the agent's work consists of, for metrics and traces: how much and how long, and never a word of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["ModelRequestEnded", "ToolCallEnded", "TurnEnded", "TurnStarted", "WorkEvent"]


@dataclass(frozen=True)
class TurnStarted:
    """The agent begins to work on what a person said."""

    task_id: str


@dataclass(frozen=True)
class TurnEnded:
    """It is done, was stopped, or failed."""

    task_id: str
    outcome: Literal["done", "stopped", "failed"]


@dataclass(frozen=True)
class ModelRequestEnded:
    """A model answered, failed, or was stopped. ``status`` is ``ok``, ``cancelled``, or what kind of failure it was."""

    task_id: str
    provider: str
    model: str
    status: str
    seconds: float
    first_seconds: float | None
    """Until the first part of the answer."""
    tokens_in: int
    tokens_cached: int
    tokens_out: int
    dollars: float


@dataclass(frozen=True)
class ToolCallEnded:
    """A tool has done what it could."""

    task_id: str
    tool: str
    outcome: Literal["done", "failed", "denied"]
    seconds: float


WorkEvent: TypeAlias = TurnStarted | TurnEnded | ModelRequestEnded | ToolCallEnded
