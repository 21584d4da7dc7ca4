"""What a task's state keeps for its next life, beside what its logs tell: a restart neither forgets nor forgives it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, cast

from ...messages import Attachment, JsonObject
from ...persistence import StateChange, TaskLog
from ...wire import WireModel
from .repetition import RepetitionGuard
from .task_limits import MistakeCounter, Mistakes

if TYPE_CHECKING:
    from ...tools import KeptOutput

__all__ = ["PersistedTaskState", "UnsentInput"]

_QUEUE: Final = "queued_messages"
_OUTPUTS: Final = "command_outputs"
_STRIKES: Final = "strikes"
_UNTOLD: Final = "untold"
_CHANGED: Final = "changed_cells"


class UnsentInput(WireModel):
    """What the model is to be told before its next turn, because the results of its calls come first."""

    note: str | None = None
    """Something that happened."""
    text: str | None = None
    """The person's words, and what came with them."""
    images: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    said_at: int | None = None


class PersistedTaskState:
    """Reads and writes these fields of one task's state."""

    def __init__(self, log: TaskLog) -> None:
        self._log = log
        self._strikes = MistakeCounter()
        if (stored := self._stored(_STRIKES)) is not None:
            self._strikes = MistakeCounter.model_validate(stored)

    @property
    def queue(self) -> list[JsonObject]:
        """The messages that wait."""
        stored = self._stored(_QUEUE)
        return cast("list[JsonObject]", stored) if isinstance(stored, list) else []

    async def save_queue(self, queue: Sequence[JsonObject]) -> None:
        """It is on the disk then."""
        self._keep(_QUEUE, list(queue))
        await self._log.save_state()

    @property
    def strikes(self) -> MistakeCounter:
        """What counts against the model."""
        return self._strikes

    async def save_strikes(self, mistakes: Mistakes, guard: RepetitionGuard) -> None:
        """On the disk at once where it counts: a mistake, or the same call again."""
        now = MistakeCounter(mistakes=mistakes.in_a_row, last_call=guard.last_call, same_calls=guard.same_calls)
        before, self._strikes = self._strikes, now
        if now == before:
            return
        self._keep(_STRIKES, now.to_wire())
        if now.mistakes != before.mistakes or max(now.same_calls, before.same_calls) > 1:
            await self._log.save_state()

    @property
    def outputs(self) -> dict[str, KeptOutput]:
        """Where the outputs of commands in the background are found."""
        from ...tools import KeptOutput

        stored = self._stored(_OUTPUTS)
        if not isinstance(stored, dict):
            return {}
        return {command: KeptOutput.model_validate(output) for command, output in stored.items()}

    async def save_outputs(self, outputs: Mapping[str, KeptOutput]) -> None:
        """It is on the disk then."""
        self._keep(_OUTPUTS, {command: output.to_wire() for command, output in outputs.items()})
        await self._log.save_state()

    @property
    def changed_cells(self) -> JsonObject | None:
        """The cells that the present request has changed."""
        stored = self._stored(_CHANGED)
        return cast("JsonObject", stored) if isinstance(stored, dict) else None

    async def save_changed_cells(self, changed: JsonObject) -> None:
        """It is on the disk then: a cell is changed only after that."""
        self._keep(_CHANGED, changed)
        await self._log.save_state()

    async def shown_text(self, ts: int) -> str | None:
        """What a message showed."""
        message = await self._log.ui.get(ts)
        return None if message is None else message.text

    @property
    def untold(self) -> list[UnsentInput]:
        """What the model has not been told yet."""
        stored = self._stored(_UNTOLD)
        return [UnsentInput.model_validate(entry) for entry in stored] if isinstance(stored, list) else []

    def keep_untold(self, untold: Sequence[UnsentInput]) -> None:
        """It is on the disk soon."""
        self._keep(_UNTOLD, [entry.to_wire() for entry in untold])

    def _stored(self, name: str) -> object:
        return (self._log.state.model_extra or {}).get(name)

    def _keep(self, name: str, value: object) -> None:
        # The store keeps fields it does not know.
        self._log.update_state(**cast("StateChange", {name: value}))
