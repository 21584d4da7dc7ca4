"""Who listens to which event."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar, cast

from ..messages import (
    CommandsResponse,
    EvalFail,
    EvalPass,
    EventBase,
    MessageEvent,
    ModeChanged,
    ModelsResponse,
    ModesResponse,
    ProviderProfileChanged,
    TaskEvent,
)
from ._checkpoints import CheckpointEvent

__all__ = ["Dispose", "Emitter", "task_id_of"]

EventT = TypeVar("EventT", bound=EventBase)
Dispose = Callable[[], None]
_Listener = Callable[[EventBase], None]


class Emitter:
    """Tells events to those who want to hear them, in the order in which they came to listen.

    A listener that fails is logged and costs no other listener anything. Listeners must not block: what takes time they
    hand to a task of their own.
    """

    def __init__(self, log: logging.Logger | logging.LoggerAdapter[logging.Logger] | None = None) -> None:
        self._logger = log or logging.getLogger(__name__)
        self._listeners: list[tuple[type[EventBase], _Listener]] = []
        self._of_checkpoints: list[Callable[[CheckpointEvent], None]] = []

    def on(self, event: type[EventT], listener: Callable[[EventT], None]) -> Dispose:
        """Listen to one kind of event, named by its model; call what is returned to stop."""
        return self._add(event, cast("_Listener", listener))

    def on_any(self, listener: Callable[[TaskEvent], None]) -> Dispose:
        """Listen to all events; call what is returned to stop."""
        return self._add(EventBase, cast("_Listener", listener))

    def emit(self, event: TaskEvent) -> None:
        """Tell an event. Nothing a listener does makes this raise."""
        # A copy: a listener may stop listening, or another begin, while the event is told.
        for kind, listener in tuple(self._listeners):
            if isinstance(event, kind):
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

    def _add(self, kind: type[EventBase], listener: _Listener) -> Dispose:
        entry = (kind, listener)
        self._listeners.append(entry)

        def dispose() -> None:
            # By identity: the same function may listen twice.
            self._listeners = [other for other in self._listeners if other is not entry]

        return dispose


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
