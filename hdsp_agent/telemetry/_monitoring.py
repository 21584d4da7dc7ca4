"""What watches the agent of one server from its start to its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..events import Emitter
from ._server_metrics import ServerMetrics
from ._turn_traces import TurnTraces, start_traces

__all__ = ["Monitoring"]


class Monitoring:
    """Metrics always, and traces where the environment says where they are sent."""

    def __init__(self, user: str, stored_bytes: Callable[[], int | None]) -> None:
        self._metrics = ServerMetrics(user, stored_bytes)
        self._traces: TurnTraces | None = None

    async def start(self, events: Emitter, environ: Mapping[str, str]) -> None:
        """Watch from now on."""
        self._metrics.start(events)
        self._traces = await start_traces(events, environ)

    async def stop(self) -> None:
        """Watch no more, and send what is not sent yet."""
        self._metrics.stop()
        if self._traces is not None:
            await self._traces.stop()
