"""The context that fits the model a task has just now: its profile may be changed at any time."""

from __future__ import annotations

from ...config import tool_set
from ...providers import KnownModel, ModelRequest
from .._ports import EnvironmentText, Situation
from ..context_window import FullContext
from ..context_window.port import ContextPort
from ._lite_context import LiteContext

__all__ = ["ContextSelector"]


class ContextSelector:
    """See ``ContextPort``."""

    def __init__(self, plain: FullContext, lite: LiteContext) -> None:
        self._plain = plain
        self._lite = lite

    async def environment(self, situation: Situation, *, spoken: bool) -> EnvironmentText | None:
        """What is added to a user turn about the surroundings."""
        return await self._of(situation).environment(situation, spoken=spoken)

    async def build(self, situation: Situation, info: KnownModel, *, answer_tokens: int | None) -> ModelRequest:
        """The next request."""
        return await self._of(situation).build(situation, info, answer_tokens=answer_tokens)

    def condensable(self, situation: Situation) -> FullContext | None:
        """What may be pruned and condensed."""
        return self._of(situation).condensable(situation)

    async def recover(self, situation: Situation, kind: str) -> bool:
        """Make room after the provider refused."""
        return await self._of(situation).recover(situation, kind)

    def _of(self, situation: Situation) -> ContextPort:
        return self._lite if tool_set(situation.provider) == "compound" else self._plain
