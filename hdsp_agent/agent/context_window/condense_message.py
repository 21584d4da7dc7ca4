"""The row that tells a person of one condensation while it goes on, and of its outcome, with what it cost."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final, Literal

from ...errors import StorageUnavailable
from ...messages import ClineMessage, ContextCondense, TaskTokenUsageUpdated
from ...providers import KnownModel, UsageReport, cost_of
from .condense_report import CondenseReport

if TYPE_CHECKING:
    from ..task.task_state import TaskState

__all__ = ["CondenseMessage"]


class CondenseMessage:
    """Begun with ``begin``. ``taken`` is what the answers of the model ``by`` took, whatever comes of them."""

    def __init__(self, state: TaskState, by: KnownModel, used: int) -> None:
        self._state = state
        self._by = by
        self.before: Final = used
        self.ts = 0
        self.taken: list[UsageReport] = []

    async def begin(self) -> None:
        """Say that it goes on."""
        self.ts = await self._state.conversation.say("condense_context", partial=True)

    async def tell(
        self, summary: str, *, after: int, account: CondenseReport, way: Literal["local", "remote"], mark_id: str
    ) -> None:
        """Say what came of it; ``after`` are the tokens from now on."""
        cost = self._cost()
        row = ClineMessage(
            ts=self.ts,
            type="say",
            say="condense_context",
            partial=False,
            context_condense=ContextCondense(
                cost=cost,
                prev_context_tokens=self.before,
                new_context_tokens=after,
                summary=summary,
                kept=account.kept,
                dropped=account.dropped,
                model=self._by.id or None,
                way=way,
                mark_id=mark_id,
            ),
        )
        await self._state.conversation.update(row, durable=True)
        await self._charge(cost, after)

    async def tell_failure(self, why: str) -> None:
        """Say why there is none, with what the answers cost nevertheless."""
        cost, conversation = self._cost(), self._state.conversation
        row = ClineMessage(
            ts=self.ts, type="say", say="condense_context_error", text=await conversation.mask(why), partial=False,
            context_condense=None if not cost else ContextCondense(
                cost=cost, prev_context_tokens=self.before, new_context_tokens=self.before, summary=""
            ),
        )  # fmt: skip
        # Where nothing can be stored, the failure itself is what is told further.
        with suppress(StorageUnavailable):
            await conversation.update(row, durable=cost > 0)
            if cost:
                await self._charge(cost, self.before)

    def _cost(self) -> float:
        return sum(cost_of(self._by, usage) or 0.0 for usage in self.taken)

    async def _charge(self, cost: float, tokens: int) -> None:
        state = self._state
        state.usage.condensed(cost, tokens)
        state.spending.cost += cost
        await state.note_progress()
        usage_now = (state.task_id, state.usage.tokens(), state.usage.tool_usage())
        state.services.events.emit(TaskTokenUsageUpdated(payload=usage_now, tools=state.usage.own_tools()))
