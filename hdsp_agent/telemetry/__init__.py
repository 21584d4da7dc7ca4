"""What monitoring is told: numbers for Prometheus, and traces for OpenTelemetry. Never a word of anybody's."""

from __future__ import annotations

from ._model_metrics import ModelMetrics
from ._monitoring import Monitoring
from ._server_metrics import ServerMetrics
from ._server_report import MOST_TASKS, ServerReport, StopAnswer, StopOrder, StorageReport, TaskReport, TaskWork

__all__ = [
    "MOST_TASKS",
    "ModelMetrics",
    "Monitoring",
    "ServerMetrics",
    "ServerReport",
    "StopAnswer",
    "StopOrder",
    "StorageReport",
    "TaskReport",
    "TaskWork",
]
