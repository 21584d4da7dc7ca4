"""What the model sees, plainly: the system prompt, the history, and the surroundings when they have changed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Final

from ..config import GlobalSettings
from ..messages import ApiMessage, ClineMessage
from ..persistence import ApiRecord
from ..providers import ModelRequest
from ._conversation import Conversation
from ._merged import Merged
from ._ports import Situation

__all__ = ["PlainContext", "Surrounded", "SystemPrompt"]

SystemPrompt = Callable[[Situation, GlobalSettings, str | None], Awaitable[str]]
Surrounded = Callable[[], Awaitable[str | None]]
"""What else there is to say about the surroundings."""

_BREATH: Final = 200
"""After so many records others get their turn: a long conversation takes a good part of a second."""
_OVERFLOWS: Final = frozenset({"overflow", "tpm_request_too_large"})


class PlainContext:
    """See ``ContextPort``. Every request is the one before with something added, so that the provider's cache holds."""

    def __init__(
        self,
        conversation: Conversation,
        workspace: str | None,
        *,
        prompt: SystemPrompt,
        settings: Callable[[], GlobalSettings],
        surrounded: Surrounded | None = None,
        now: Callable[[], datetime] = lambda: datetime.now().astimezone(),
    ) -> None:
        self._conversation = conversation
        self._workspace = workspace
        self._prompt = prompt
        self._settings = settings
        self._surrounded = surrounded
        self._now = now
        self._merged: Merged | None = None
        self._system: tuple[str, str] | None = None
        self._told_mode: str | None = None
        conversation.on_api(self._added)

    async def environment(self, situation: Situation, *, spoken: bool) -> str | None:
        """The surroundings, when the person has spoken or the mode is another; else there is nothing new to say."""
        mode = situation.mode
        if not spoken and mode.slug == self._told_mode:
            return None
        self._told_mode = mode.slug
        lines = [f"Current mode: {mode.slug} ({mode.name})"]
        if self._workspace:
            lines.append(f"Workspace: {self._workspace}")
        if self._settings().include_current_time:
            lines.append(f"Current time: {self._now().isoformat(timespec='minutes')}")
        if spoken and self._surrounded is not None and (more := await self._surrounded()):
            lines.append(more)
        return "<environment_details>\n" + "\n".join(lines) + "\n</environment_details>"

    async def build(self, situation: Situation, *, answer_tokens: int | None) -> ModelRequest:
        """The next request."""
        return ModelRequest(
            system=await self._system_prompt(situation),
            messages=await self.history(),
            tools=situation.tools,
            max_output=answer_tokens,
            cache_key=situation.task_id,
        )

    async def recover(self, situation: Situation, kind: str) -> bool:
        """Hide the older half of what the model sees."""
        if kind not in _OVERFLOWS:
            return False
        log = self._conversation.log
        event_ts = log.next_ts()
        mark = await self._conversation.history.truncate(truncation_id=f"truncation-{event_ts}", event_ts=event_ts)
        if mark is None:
            return False
        self._conversation.history_changed()
        truncation = {"truncation_id": mark.truncation_id, "messages_removed": mark.count}
        await self._conversation.create(
            ClineMessage.model_validate(
                {
                    "ts": event_ts,
                    "type": "say",
                    "say": "sliding_window_truncation",
                    "context_truncation": {**truncation, "prev_context_tokens": 0, "new_context_tokens": 0},
                }
            )
        )
        return True

    def _added(self, record: ApiRecord | None) -> None:
        if record is None:
            self._merged = None
        elif self._merged is not None:
            self._merged.add(record)

    async def history(self) -> Sequence[ApiMessage]:
        """The conversation as requests hold it, neighbours of the person's in one message."""
        if self._merged is None:
            merged = Merged()
            for number, record in enumerate(await self._conversation.history.api_history(), 1):
                merged.add(record)
                if number % _BREATH == 0:
                    await asyncio.sleep(0)
            self._merged = merged
        return self._merged.messages

    async def _system_prompt(self, situation: Situation) -> str:
        """The prompt of this mode, made once and recorded, so that it stays as it is while the mode does."""
        slug = situation.mode.slug
        if self._system is None or self._system[0] != slug:
            text = await self._conversation.mask(await self._prompt(situation, self._settings(), self._workspace))
            recorded = self._conversation.log.system_prompt
            if recorded is None or recorded.content != text:
                await self._conversation.add_api("system", [{"type": "text", "text": text}])
            self._system = slug, text
        return self._system[1]
