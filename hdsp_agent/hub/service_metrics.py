"""What Prometheus is told: how much, how long and how it ended. Who it was only if the file of policies says so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, get_args

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from ..telemetry import ModelMetrics, TaskWork
from .usage_store import RequestEnd, RequestStart

__all__ = ["ServiceMetrics"]

_SHORT_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class ServiceMetrics:
    """The numbers since the service started."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self._models = ModelMetrics("hdsp_agent_hub", registry)
        self._refusals = Counter(
            "hdsp_agent_hub_refusals", "Requests that were not passed on, by reason", ("reason",), registry=registry
        )
        self._own = Histogram(
            "hdsp_agent_hub_overhead_seconds",
            "Time before a request is passed on",
            buckets=_SHORT_SECONDS,
            registry=registry,
        )
        self.active = Gauge("hdsp_agent_hub_active_requests", "Requests under way", registry=registry)
        self.stored_bytes = Gauge("hdsp_agent_hub_stored_bytes", "Size of the record of use", registry=registry)
        self.policies_valid = Gauge(
            "hdsp_agent_hub_policies_valid", "Whether the file of policies can be used as it is now", registry=registry
        )

        self._servers = Gauge(
            "hdsp_agent_hub_reporting_servers",
            "Servers of people that tell of their tasks",
            ("user",),
            registry=registry,
        )
        self._tasks = Gauge(
            "hdsp_agent_hub_tasks", "Tasks of people's servers by what they do", ("state", "user"), registry=registry
        )

    def servers_now(
        self, servers: Mapping[str, int], works: Mapping[tuple[TaskWork, str], int], *, with_users: bool
    ) -> None:
        """How many servers each person has, and tasks that do this."""
        self._servers.clear()
        self._tasks.clear()
        if with_users:
            for user, count in servers.items():
                self._servers.labels(user).set(count)
            for (work, user), count in works.items():
                self._tasks.labels(work, user).set(count)
            return
        self._servers.labels("").set(sum(servers.values()))
        for known in get_args(TaskWork):
            self._tasks.labels(known, "").set(sum(count for (work, _), count in works.items() if work == known))

    def passed_on(self, seconds: float) -> None:
        """A request was sent on after this time."""
        self._own.observe(seconds)

    def refused(self, code: str) -> None:
        """A request was not passed on."""
        self._refusals.labels(code).inc()

    def ended(self, start: RequestStart, end: RequestEnd, *, with_user: bool) -> None:
        """A request that was passed on has ended."""
        self._models.ended(
            (start.provider, start.model),
            str(end.status),
            {"in": end.tokens_in, "cached": end.tokens_cached, "out": end.tokens_out},
            end.money,
            end.milliseconds / 1000,
            None if end.first_milliseconds is None else end.first_milliseconds / 1000,
            user=start.user if with_user else "",
        )

    def text(self) -> bytes:
        """All of it in Prometheus' form."""
        return generate_latest(self._registry)
