"""What a person's server adds to the ``/metrics`` of its Jupyter Server."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram

from ..events import Emitter, ModelRequestEnded, ToolCallEnded, TurnEnded, TurnStarted, WorkEvent
from ..messages import QueuedMessagesUpdated, TaskEvent
from ._model_metrics import SECONDS, ModelMetrics
from ._tool_names import shown_tool

__all__ = ["ServerMetrics"]

logger = logging.getLogger(__name__)


class ServerMetrics:
    """The numbers since the server started. ``user`` is empty where nobody is to be named."""

    def __init__(self, user: str, stored_bytes: Callable[[], int | None]) -> None:
        self._user = user
        self._registry = registry = CollectorRegistry()
        self._models = ModelMetrics("hdsp_agent", registry)
        self._turns = Counter(
            "hdsp_agent_turns", "What people said that was worked on, by how it ended", ("outcome", "user"),
            registry=registry,
        )  # fmt: skip
        self._active = Gauge("hdsp_agent_active_turns", "What is being worked on", registry=registry)
        self._tools = Counter(
            "hdsp_agent_tool_calls", "Calls of tools by how they ended", ("tool", "outcome", "user"), registry=registry
        )
        self._tool_seconds = Histogram(
            "hdsp_agent_tool_seconds", "Length of calls, with the time for an approval", ("tool",), buckets=SECONDS,
            registry=registry,
        )  # fmt: skip
        self._queued: dict[str, int] = {}
        queued = Gauge("hdsp_agent_queued_messages", "Messages that wait until the agent is free", registry=registry)
        queued.set_function(lambda: sum(self._queued.values()))
        stored = Gauge("hdsp_agent_stored_bytes", "Size of the storage folder when last measured", registry=registry)
        stored.set_function(lambda: math.nan if (size := stored_bytes()) is None else size)

    def start(self, events: Emitter) -> None:
        """Count from now on, and show it."""
        events.on_work(self.count)
        events.on_any(self._heed_queue)
        try:
            REGISTRY.register(self._registry)
        except ValueError:
            # Two servers in one process share Jupyter Server's page.
            logger.warning("The metrics of another server in this process are shown in place of this one's.")

    def stop(self) -> None:
        """Show it no more."""
        try:
            REGISTRY.unregister(self._registry)
        except KeyError:
            # It was never shown.
            logger.debug("There were no metrics to take away.")

    def count(self, event: WorkEvent) -> None:
        """Count a part of the agent's work."""
        match event:
            case ModelRequestEnded():
                self._models.ended(
                    (event.provider, event.model),
                    event.status,
                    {"in": event.tokens_in, "cached": event.tokens_cached, "out": event.tokens_out},
                    event.dollars,
                    event.seconds,
                    event.first_seconds,
                    user=self._user,
                )
            case ToolCallEnded():
                tool = shown_tool(event.tool)
                self._tools.labels(tool, event.outcome, self._user).inc()
                self._tool_seconds.labels(tool).observe(event.seconds)
            case TurnStarted():
                self._active.inc()
            case TurnEnded():
                self._active.dec()
                self._turns.labels(event.outcome, self._user).inc()

    def _heed_queue(self, event: TaskEvent) -> None:
        if isinstance(event, QueuedMessagesUpdated):
            task_id, messages = event.payload
            self._queued[task_id] = len(messages)
            if not messages:
                del self._queued[task_id]
