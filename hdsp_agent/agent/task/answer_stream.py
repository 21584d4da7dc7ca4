"""One answer of the model while it arrives: shown as it comes, masked, put together, kept when it breaks off."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import replace
from time import monotonic
from typing import Final, Literal, Protocol, TypeAlias, cast

from ...errors import HdspAgentError
from ...messages import ClineMessage, JsonObject
from ...persistence import StreamMasker
from ...providers import (
    ModelAnswer,
    ModelEvent,
    Stop,
    TextDelta,
    ThinkingDelta,
    ThinkingDone,
    ToolCallDelta,
    ToolCallDone,
    ToolCallStart,
    UsageReport,
    parsed_arguments,
)
from ..conversation.conversation import Conversation, masked_json, sound_text
from .read_pacing import ReadPacing

__all__ = ["AnswerStream", "Preview"]

logger = logging.getLogger(__name__)

_RECORD_SECONDS: Final = 0.9
_PREVIEW_SECONDS: Final = 0.1
_PIECES: Final = TextDelta | ThinkingDelta | ToolCallDelta
_BREATH: Final = 16
"""After so many events others get their turn: what has arrived already would be taken in without a pause."""


Preview: TypeAlias = Callable[[str, JsonObject], str | None]
"""By the tool and the arguments so far, the text of the question that will be asked; None to show nothing yet."""


class _Shown:
    """A text or a thought on the screen while it grows. A secret is held back until it is whole, and masked."""

    def __init__(self, conversation: Conversation, kind: Literal["text", "reasoning"], masker: StreamMasker) -> None:
        self._conversation = conversation
        self.kind: Final = kind
        self._masker = masker
        self._pieces: list[str] = []
        self._recording: asyncio.Task[None] | None = None
        self.ts: int | None = None
        self._is_told = False
        self.thoughts: str | None = None
        """What the model thought before it said this."""
        self.message: ClineMessage | None = None
        """What was shown, once it is whole."""

    @property
    def text(self) -> str:
        """As far as it has come."""
        return "".join(self._pieces)

    async def feed(self, text: str) -> str:
        return await self._grow(self._masker.feed(text))

    async def end(self) -> str:
        rest = await self._grow(self._masker.finish())
        if self._recording is not None:
            self._recording.cancel()
            await asyncio.wait({self._recording})
        if self.ts is not None:
            self.message = message = self._message(self.ts, partial=False)
            await (self._conversation.update(message) if self._is_told else self._conversation.create(message))
        return rest

    async def _grow(self, piece: str) -> str:
        if not piece:
            return piece
        self._pieces.append(piece)
        if self.ts is None:
            if not piece.strip() and self.kind == "text":
                # Some models begin with a blank line; a message of nothing would flicker.
                return piece
            # Known before it is recorded: whoever is stopped meanwhile ends the message all the same.
            async with self._conversation.log.new_message() as self.ts:
                await self._conversation.create(self._message(self.ts, partial=True))
            self._is_told = True
        elif self._is_told:
            self._conversation.delta(self.ts, "text", piece)
            if self._recording is None or self._recording.done():
                self._recording = asyncio.create_task(self._record(self.ts), name="Recording what streams")
        return piece

    async def _record(self, ts: int) -> None:
        """Record a second of it, whether more comes or the model falls silent: what was seen that long is not lost."""
        await asyncio.sleep(_RECORD_SECONDS)
        try:
            await self._conversation.record_partial(self._message(ts, partial=True))
        except HdspAgentError as error:
            # Nobody waits for this form. The end of the message is recorded, or fails and is told.
            logger.warning("Message %s could not be saved while it streams: %s", ts, error)

    def _message(self, ts: int, *, partial: bool) -> ClineMessage:
        text = self.text
        if len(self._pieces) > 64:
            self._pieces = [text]
        message = ClineMessage.model_construct(ts=ts, type="say", say=self.kind, text=text, partial=partial)
        # Once, at the end: thoughts are long.
        return message if partial or not self.thoughts else message.model_copy(update={"reasoning": self.thoughts})


class _Call:
    """A call while its arguments stream."""

    def __init__(self, id: str, name: str) -> None:
        self.id = id
        """As the answer has it: a second call of the same id gets one of its own."""
        self.name = name
        self.json: list[str] = []
        self.ts: int | None = None
        self.shown_at = 0.0
        self.done = False


class _Waits:
    """Tells whether something was waited for: then the event loop went round more than once, which a mere pause takes."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._round: asyncio.Handle | None = None

    def begin(self) -> None:
        """Something may be waited for from here on."""
        self._round = self._loop.call_soon(self._once)

    def end(self) -> bool:
        """Whether it was waited for."""
        if self._round is None:
            return True
        self._round.cancel()
        return False

    def _once(self) -> None:
        self._round = self._loop.call_soon(self._twice)

    def _twice(self) -> None:
        self._round = None


class AnswerStream:
    """Takes in one answer. ``answer`` is what the API history gets; ``previews`` are the questions shown, by call id."""

    def __init__(
        self,
        conversation: Conversation,
        preview: Preview,
        on_usage: Callable[[UsageReport], None],
        gathering: ReadPacing,
    ) -> None:
        self._conversation = conversation
        self._gathering = gathering
        self._preview = preview
        self._on_usage = on_usage
        self._shown: _Shown | None = None
        self._calls: dict[int, _Call] = {}
        self._first_ts: int | None = None
        self._thoughts: list[str] = []
        self._last_text: ClineMessage | None = None
        self.answer: Final = ModelAnswer()
        self.begun_at: float | None = None
        """When the first part of the answer came, on the clock of ``time.monotonic``."""

    @property
    def previews(self) -> dict[str, int]:
        """The times of the questions shown already, by the id of their call."""
        return {call.id: call.ts for call in self._calls.values() if call.ts is not None and call.done}

    @property
    def shown_in_vain(self) -> list[int]:
        """The times of questions shown for calls that the answer does not hold."""
        return [call.ts for call in self._calls.values() if call.ts is not None and not call.done]

    @property
    def last_text(self) -> ClineMessage | None:
        """The last text of the answer, as it was shown."""
        return self._last_text

    @property
    def begun(self) -> bool:
        """Whether anything of the answer came."""
        return self.begun_at is not None

    @property
    def first_ts(self) -> int | None:
        """The time of the first message this answer showed: who takes that back takes the answer back."""
        return self._first_ts

    async def take(self, events: AsyncIterator[ModelEvent]) -> None:
        """Take in all events; raises what the provider's stream raises."""
        # Only generators have aclose; every adapter is one, a test's scripted model may not be.
        if hasattr(events, "aclose"):
            async with aclosing(cast("_Closable", events)):
                await self._take(events)
        else:
            await self._take(events)

    async def end_shown(self) -> None:
        """End what is on the screen, as it is."""
        if self._shown is not None:
            shown, self._shown = self._shown, None
            if shown.kind == "text":
                shown.thoughts, self._thoughts = "\n\n".join(self._thoughts) or None, []
            rest = await shown.end()
            if shown.kind == "text":
                self._last_text = shown.message or self._last_text
            if shown.kind == "reasoning":
                self._thoughts.append(shown.text)
            elif rest:
                self.answer.add(TextDelta(rest))

    async def _take(self, events: AsyncIterator[ModelEvent]) -> None:
        taken = 0
        waits = _Waits()
        with self._gathering.streaming():
            waits.begin()
            async for event in events:
                waited = waits.end()
                if self.begun_at is None:
                    self.begun_at = monotonic()
                await self._add(_sound(event))
                taken += 1
                together = self._gathering.seconds if waited and isinstance(event, _PIECES) else 0
                if together:
                    # What else has come by then is taken in without waiting for it.
                    await asyncio.sleep(together)
                elif taken % _BREATH == 0:
                    await asyncio.sleep(0)
                waits.begin()
            waits.end()

    async def _add(self, event: ModelEvent) -> None:
        match event:
            case TextDelta(text=text):
                shown = await self._showing("text")
                piece = await shown.feed(text)
                self._note(shown.ts)
                if piece:
                    self.answer.add(TextDelta(piece))
            case ThinkingDelta(text=text):
                shown = await self._showing("reasoning")
                await shown.feed(text)
                self._note(shown.ts)
                # Thoughts go back to the provider as they came: their signature is over every letter.
                self.answer.add(event)
            case ThinkingDone():
                await self._end_thought()
                self.answer.add(event)
            case ToolCallStart(index=index, id=call_id, name=name):
                await self.end_shown()
                self._calls[index] = _Call(call_id, name)
                self.answer.add(event)
            case ToolCallDelta(index=index, json=piece):
                await self._preview_call(index, piece)
            case ToolCallDone():
                await self.end_shown()
                self._take_call(self._masked(event))
            case UsageReport():
                self.answer.add(event)
                self._on_usage(event)
            case Stop():
                await self.end_shown()
                self.answer.add(event)

    def _take_call(self, event: ToolCallDone) -> None:
        """Some servers send a call twice, some give two calls one id."""
        call = self._calls.setdefault(event.index, _Call(event.id, event.name))
        known = [other for other in self.answer.calls if other.id == event.id]
        if any((other.name, other.arguments) == (event.name, event.arguments) for other in known):
            return
        call.id, call.done = f"{event.id}_{event.index}" if known else event.id, True
        self.answer.add(replace(event, id=call.id))

    async def _showing(self, kind: Literal["text", "reasoning"]) -> _Shown:
        if self._shown is None or self._shown.kind != kind:
            await self.end_shown()
            self._shown = _Shown(self._conversation, kind, self._conversation.masker.stream())
        return self._shown

    async def _end_thought(self) -> None:
        if self._shown is not None and self._shown.kind == "reasoning":
            await self.end_shown()

    async def _preview_call(self, index: int, piece: str) -> None:
        call = self._calls.get(index)
        if call is None:
            return
        call.json.append(piece)
        now = asyncio.get_running_loop().time()
        if now - call.shown_at < _PREVIEW_SECONDS:
            return
        call.shown_at = now
        arguments = _partial_arguments("".join(call.json))
        text = None if arguments is None else self._preview(call.name, self._masked_object(arguments))
        if text is None:
            return
        if call.ts is None:
            async with self._conversation.log.new_message() as call.ts:
                self._note(call.ts)
                await self._conversation.create(self._conversation.ask_message("tool", text, ts=call.ts, partial=True))
        else:
            await self._conversation.update(self._conversation.ask_message("tool", text, ts=call.ts, partial=True))

    def _masked(self, call: ToolCallDone) -> ToolCallDone:
        try:
            value = parsed_arguments(call.arguments)
        except ValueError:
            return replace(call, arguments=self._conversation.masker.mask(call.arguments))
        masked = masked_json(value, self._conversation.masker)
        return replace(call, arguments=sound_text(json.dumps(masked, ensure_ascii=False)))

    def _masked_object(self, arguments: JsonObject) -> JsonObject:
        return cast("JsonObject", masked_json(arguments, self._conversation.masker))

    def _note(self, ts: int | None) -> None:
        if self._first_ts is None:
            self._first_ts = ts


class _Closable(Protocol):
    async def aclose(self) -> None: ...


def _sound(event: ModelEvent) -> ModelEvent:
    """The event in characters that can be recorded, shown and sent."""
    match event:
        case TextDelta(text=text) | ThinkingDelta(text=text):
            return event if text.isascii() else replace(event, text=sound_text(text))
        case ToolCallStart(name=name):
            return replace(event, name=sound_text(name))
        case ToolCallDelta(json=piece):
            return event if piece.isascii() else replace(event, json=sound_text(piece))
        case ToolCallDone(name=name, arguments=arguments):
            return replace(event, name=sound_text(name), arguments=sound_text(arguments))
        case _:
            return event


def _partial_arguments(text: str) -> JsonObject | None:
    """As much of an object as has arrived."""
    from pydantic_core import from_json

    try:
        value = from_json(text, allow_partial="trailing-strings")
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
