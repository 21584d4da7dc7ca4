"""The numbers of requests to models: the same for a person's server and for the hub service, under two prefixes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from prometheus_client import CollectorRegistry, Counter, Histogram

__all__ = ["SECONDS", "ModelMetrics"]

SECONDS: Final = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)

Direction = Literal["in", "cached", "out"]


class ModelMetrics:
    """By provider and model, and by person where that is switched on."""

    def __init__(self, prefix: str, registry: CollectorRegistry) -> None:
        place = ("provider", "model")
        self._requests = Counter(
            f"{prefix}_requests", "Requests by how they ended", (*place, "status", "user"), registry=registry
        )
        self._tokens = Counter(f"{prefix}_tokens", "Tokens used", (*place, "direction", "user"), registry=registry)
        self._cost = Counter(f"{prefix}_cost_dollars", "Cost in US dollars", (*place, "user"), registry=registry)
        self._seconds = Histogram(
            f"{prefix}_request_seconds", "Length of requests", place, buckets=SECONDS, registry=registry
        )
        self._first = Histogram(
            f"{prefix}_first_byte_seconds",
            "Time to the first part of an answer",
            place,
            buckets=SECONDS,
            registry=registry,
        )

    def ended(
        self,
        place: tuple[str, str],
        status: str,
        tokens: Mapping[Direction, int],
        dollars: float,
        seconds: float,
        first_seconds: float | None,
        *,
        user: str,
    ) -> None:
        """A request has ended. ``place`` is provider and model; ``user`` is empty where nobody is to be named."""
        self._requests.labels(*place, status, user).inc()
        for direction, number in tokens.items():
            self._tokens.labels(*place, direction, user).inc(number)
        self._cost.labels(*place, user).inc(dollars)
        self._seconds.labels(*place).observe(seconds)
        if first_seconds is not None:
            self._first.labels(*place).observe(first_seconds)
