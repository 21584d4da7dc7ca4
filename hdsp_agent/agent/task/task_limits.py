"""How much a task may do before it asks: requests and cost since the person last said yes, and mistakes in a row."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final, Literal

from ...config import GlobalSettings
from ...wire import WireModel

__all__ = ["LimitReached", "MistakeCounter", "Mistakes", "Spending", "reached_limit"]

# Sums of prices are not exact; a limit that is met to the cent is not passed.
_TOLERANCE: Final = 0.0001


@dataclass
class Spending:
    """Requests and US dollars since the person last allowed more. Told by the log alone, so it survives a restart."""

    requests: int = 0
    cost: float = 0.0

    def reset(self) -> None:
        """The person allowed as much again."""
        self.requests, self.cost = 0, 0.0


@dataclass(frozen=True)
class LimitReached:
    """Which limit the next request would pass."""

    kind: Literal["requests", "cost"]
    text: str


def reached_limit(spent: Spending, settings: GlobalSettings) -> LimitReached | None:
    """The limit the next request would pass, with the question's text in Roo Code's form."""
    most = settings.allowed_max_requests
    if most is not None and spent.requests + 1 > most:
        return LimitReached("requests", json.dumps({"count": most, "type": "requests"}))
    cost = settings.allowed_max_cost
    if cost is not None and spent.cost > cost + _TOLERANCE:
        return LimitReached("cost", json.dumps({"count": f"{cost:.2f}", "type": "cost"}))
    return None


@dataclass
class Mistakes:
    """Mistakes of the model in a row; a tool that works ends the row."""

    in_a_row: int = 0

    def made(self) -> None:
        """One more."""
        self.in_a_row += 1

    def over(self) -> None:
        """The row has ended."""
        self.in_a_row = 0

    def reached(self, limit: int) -> bool:
        """Whether the person is to be asked; a limit of 0 is none."""
        return limit > 0 and self.in_a_row >= limit


class MistakeCounter(WireModel):
    """What counts against the model, as the task's state keeps it: a restart gives it no new credit."""

    mistakes: int = 0
    """Mistakes in a row."""
    last_call: str | None = None
    """The call it made last, as a digest."""
    same_calls: int = 0
    """How often in a row it made that one."""
