"""How far a runner of an eval task may go, and what it reports."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from hdsp_agent.config import ProviderSettings
from hdsp_agent.local import LocalModels

if TYPE_CHECKING:
    from ._notebook_fixture import NotebookFixture

__all__ = ["MOST_REQUESTS", "MOST_SECONDS", "MOST_TOKENS", "Attempt", "Claim", "ReadyModel", "Runner"]

MOST_REQUESTS: Final = 8
"""Requests to the model for one task."""
MOST_TOKENS: Final = 4096
"""Tokens the model may write for one task; the request that passes it is the last."""
MOST_SECONDS: Final = 420
"""A last resort for a machine that does much else: nothing should be decided by it."""

Claim: TypeAlias = Literal["checked", "unchecked", "not_done", "none"]
"""What a runner says of its ending: done and checked, done and not checked, not done; ``none`` if it came to no ending."""


@dataclass(frozen=True)
class ReadyModel:
    """An embedded model whose weights are there."""

    models: LocalModels
    id: str

    @property
    def settings(self) -> ProviderSettings:
        """A profile that uses it."""
        return ProviderSettings.model_validate({"apiProvider": "local", "apiModelId": self.id})


@dataclass
class Attempt:
    """How an eval task was attempted: what the person is told, what it took, and what was said on the way."""

    answer: str = ""
    claim: Claim = "none"
    requests: int = 0
    tokens: int = 0
    questions: int = 0
    """How often the person was asked which cell they mean, or anything else that is no approval."""
    ended: str = "answered"
    """Why it ended, if not with an answer."""
    transcript: list[str] = field(default_factory=list)


Runner: TypeAlias = Callable[["NotebookFixture", ReadyModel], Awaitable[Attempt]]
