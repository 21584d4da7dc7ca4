"""What Prometheus is told: how much, how long and how it ended. Who it was only if the file of policies says so."""

from __future__ import annotations

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from .usage_store import RequestEnd, RequestStart

__all__ = ["ServiceMetrics"]

_SECONDS: Final = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)
_SHORT_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class ServiceMetrics:
    """The numbers since the service started."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        place = ("provider", "model")
        self._requests = Counter(
            "hdsp_agent_hub_requests", "Requests by how they ended", (*place, "status", "user"), registry=registry
        )
        self._tokens = Counter("hdsp_agent_hub_tokens", "Tokens used", (*place, "direction", "user"), registry=registry)
        self._cost = Counter("hdsp_agent_hub_cost_dollars", "Cost in US dollars", (*place, "user"), registry=registry)
        self._refusals = Counter(
            "hdsp_agent_hub_refusals", "Requests that were not passed on, by reason", ("reason",), registry=registry
        )
        self._seconds = Histogram(
            "hdsp_agent_hub_request_seconds", "Length of requests", place, buckets=_SECONDS, registry=registry
        )
        self._first = Histogram(
            "hdsp_agent_hub_first_byte_seconds",
            "Time to the first byte of an answer",
            place,
            buckets=_SECONDS,
            registry=registry,
        )
        self._own = Histogram(
            "hdsp_agent_hub_overhead_seconds",
            "Time before a request is passed on",
            buckets=_SHORT_SECONDS,
            registry=registry,
        )
        self.active = Gauge("hdsp_agent_hub_active_requests", "Requests under way", registry=registry)
        self.policies_valid = Gauge(
            "hdsp_agent_hub_policies_valid", "Whether the file of policies can be used as it is now", registry=registry
        )

    def passed_on(self, seconds: float) -> None:
        """A request was sent on after this time."""
        self._own.observe(seconds)

    def refused(self, code: str) -> None:
        """A request was not passed on."""
        self._refusals.labels(code).inc()

    def ended(self, start: RequestStart, end: RequestEnd, *, with_user: bool) -> None:
        """A request that was passed on has ended."""
        user = start.user if with_user else ""
        place = (start.provider, start.model)
        self._requests.labels(*place, str(end.status), user).inc()
        for direction, tokens in (("in", end.tokens_in), ("cached", end.tokens_cached), ("out", end.tokens_out)):
            self._tokens.labels(*place, direction, user).inc(tokens)
        self._cost.labels(*place, user).inc(end.money)
        self._seconds.labels(*place).observe(end.milliseconds / 1000)
        if end.first_milliseconds is not None:
            self._first.labels(*place).observe(end.first_milliseconds / 1000)

    def text(self) -> bytes:
        """All of it in Prometheus' form."""
        return generate_latest(self._registry)
