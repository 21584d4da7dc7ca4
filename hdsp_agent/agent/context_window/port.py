"""What a task needs of whatever decides what its model sees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from ...messages import RecalledItem
from ...providers import KnownModel, ModelRequest
from .._ports import EnvironmentText, Situation

if TYPE_CHECKING:
    from ..conversation.conversation import Conversation
    from .full_context import FullContext

__all__ = ["ContextOf", "ContextPort", "Contexts"]


class ContextPort(Protocol):
    """What the model sees of one conversation."""

    async def environment(self, situation: Situation, *, spoken: bool) -> EnvironmentText | None:
        """What is added to a user turn about the surroundings; ``spoken`` says that the person has just said something."""

    async def build(self, situation: Situation, info: KnownModel, *, answer_tokens: int | None) -> ModelRequest:
        """The next request, to the model this is known of."""

    async def recalled(self) -> Sequence[RecalledItem]:
        """What of the past it was told beside the conversation, as far as it still knows that."""

    def condensable(self, situation: Situation) -> FullContext | None:
        """What may be pruned and condensed; None where requests are made to fit anyway."""

    async def recover(self, situation: Situation, kind: str) -> bool:
        """Hide the oldest part after the provider refused; whether it is worth another try."""


ContextOf: TypeAlias = Callable[[Situation], ContextPort]
"""The context of one conversation that fits the model it has just now."""
Contexts: TypeAlias = "Callable[[Conversation, str | None], ContextOf]"
"""Makes the context of a conversation in a workspace."""
