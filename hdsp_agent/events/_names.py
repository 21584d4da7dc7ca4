"""The names of all events."""

from __future__ import annotations

from typing import Final, Literal, get_args

__all__ = ["EVENT_NAMES", "EventName"]

EventName = Literal[
    "taskCreated",
    "taskStarted",
    "taskCompleted",
    "taskAborted",
    "taskFocused",
    "taskUnfocused",
    "taskActive",
    "taskInteractive",
    "taskResumable",
    "taskIdle",
    "taskPaused",
    "taskUnpaused",
    "taskSpawned",
    "taskDelegated",
    "taskDelegationCompleted",
    "taskDelegationResumed",
    "message",
    "taskModeSwitched",
    "taskAskResponded",
    "taskUserMessage",
    "queuedMessagesUpdated",
    "taskTokenUsageUpdated",
    "taskToolFailed",
    "modeChanged",
    "providerProfileChanged",
    "commandsResponse",
    "modesResponse",
    "modelsResponse",
    "evalPass",
    "evalFail",
]

EVENT_NAMES: Final[tuple[EventName, ...]] = get_args(EventName)
