"""Who listens to which event."""

from __future__ import annotations

import logging
from collections.abc import Callable

from ..messages import (
    CommandsResponse,
    EvalFail,
    EvalPass,
    MessageEvent,
    ModeChanged,
    ModelsResponse,
    ModesResponse,
    ProviderProfileChanged,
    TaskEvent,
)
from ._checkpoints import CheckpointEvent
from ._feedback import FeedbackEvent
from ._work import WorkEvent

__all__ = ["Dispose", "Emitter", "task_id_of"]

Dispose = Callable[[], None]


class Emitter:
    """Tells events to those who want to hear them, in the order in which they came to listen.

    A listener that fails is logged and costs no other listener anything. Listeners must not block: what takes time they
    hand to a task of their own.
    """

    def __init__(self, log: logging.Logger | logging.LoggerAdapter[logging.Logger] | None = None) -> None:
        self._logger = log or logging.getLogger(__name__)
        self._listeners: list[Callable[[TaskEvent], None]] = []
        self._of_checkpoints: list[Callable[[CheckpointEvent], None]] = []
        self._of_feedback: list[Callable[[FeedbackEvent], None]] = []
        self._of_work: list[Callable[[WorkEvent], None]] = []

    def on_any(self, listener: Callable[[TaskEvent], None]) -> Dispose:
        """Listen to all events; call what is returned to stop."""

        # An object of its own: the same function may listen twice.
        def heard(event: TaskEvent) -> None:
            listener(event)

        def dispose() -> None:
            if heard in self._listeners:
                self._listeners.remove(heard)

        self._listeners.append(heard)
        return dispose

    def emit(self, event: TaskEvent) -> None:
        """Tell an event. Nothing a listener does makes this raise."""
        # A copy: a listener may stop listening, or another begin, while the event is told.
        for listener in tuple(self._listeners):
            try:
                listener(event)
            except Exception:
                self._logger.exception("A listener to %s failed (task %s)", event.event_name, task_id_of(event))

    def on_checkpoint(self, listener: Callable[[CheckpointEvent], None]) -> Dispose:
        """Listen to what happens to checkpoints; call what is returned to stop."""
        self._of_checkpoints.append(listener)
        return lambda: self._of_checkpoints.remove(listener)

    def emit_checkpoint(self, event: CheckpointEvent) -> None:
        """Tell what happened to checkpoints. Nothing a listener does makes this raise."""
        for listener in tuple(self._of_checkpoints):
            try:
                listener(event)
            except Exception:
                self._logger.exception("A listener to checkpoints failed at %s (task %s)", event.event, event.task_id)

    def on_feedback(self, listener: Callable[[FeedbackEvent], None]) -> Dispose:
        """Listen to what people think of answers; call what is returned to stop."""
        self._of_feedback.append(listener)
        return lambda: self._of_feedback.remove(listener)

    def emit_feedback(self, event: FeedbackEvent) -> None:
        """Tell what somebody thinks of an answer. Nothing a listener does makes this raise."""
        for listener in tuple(self._of_feedback):
            try:
                listener(event)
            except Exception:
                self._logger.exception("A listener to feedback failed (task %s)", event.task_id)

    def on_work(self, listener: Callable[[WorkEvent], None]) -> Dispose:
        """Listen to what the agent's work consists of; call what is returned to stop."""
        self._of_work.append(listener)
        return lambda: self._of_work.remove(listener)

    def emit_work(self, event: WorkEvent) -> None:
        """Tell a part of the agent's work. Nothing a listener does makes this raise."""
        for listener in tuple(self._of_work):
            try:
                listener(event)
            except Exception:
                self._logger.exception("A listener to the agent's work failed (task %s)", event.task_id)


def task_id_of(event: TaskEvent) -> str | None:
    """The task an event is about, the parent where it is about two."""
    if isinstance(event, MessageEvent):
        return event.payload[0].task_id
    if isinstance(
        event,
        ModeChanged | ProviderProfileChanged | CommandsResponse | ModesResponse | ModelsResponse | EvalPass | EvalFail,
    ):
        return None
    return event.payload[0]
