"""The two histories of one task as they grow: recorded first, then told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, Literal

from pydantic import JsonValue

from ..._background_tasks import STOP_SECONDS, BackgroundTasks
from ...events import Emitter
from ...messages import (
    ApiMessage,
    Attachment,
    ClineAsk,
    ClineMessage,
    ClineSay,
    JsonObject,
    MessageEvent,
    MessageEventPayload,
    TaskId,
)
from ...persistence import ApiDraft, ApiRecord, CountedTokens, Masker, MessageManager, TaskLog
from .._ports import ConversationShown, DeltaField, MessageSink

__all__ = ["NOT_YET", "Conversation", "image_block", "masked_json", "sound_text", "text_block"]

NOT_YET: Final = 0
"""In the place of a message's time until its line is appended."""

_LONG: Final = 50_000
_MOST_PLACED: Final = 512
"""Of so many messages, the newest, the place in the API history is known without reading the log."""


class Conversation:
    """Adds to a task's log, masks what is added, and tells the sink and the listeners afterwards."""

    def __init__(
        self, log: TaskLog, history: MessageManager, masker: Masker, sink: MessageSink, events: Emitter
    ) -> None:
        self.log: Final = log
        self.history: Final = history
        self.masker: Final = masker
        self._sink = sink
        self._events = events
        self._streaming: dict[int, ClineMessage] = {}
        self._listeners: list[Callable[[ApiRecord | None], None]] = []
        self._places: dict[int, int] = {}
        self._held = BackgroundTasks()

    @property
    def task_id(self) -> TaskId:
        """Whose conversation it is."""
        return self.log.task_id

    def on_api(self, listener: Callable[[ApiRecord | None], None]) -> None:
        """Be told of each message added to the API history; None says that marks changed it."""
        self._listeners.append(listener)

    def history_changed(self) -> None:
        """A mark was added: what the model sees is another history now."""
        for listener in self._listeners:
            listener(None)
        self._sink.marked(self.task_id, self.history.newest_marks)

    def shown_changed(self, shown: ConversationShown) -> None:
        """A mark was added that changes what the person sees."""
        for listener in self._listeners:
            listener(None)
        self._sink.reset(self.task_id, shown)

    # ---- what the person sees

    async def say(
        self,
        kind: ClineSay,
        text: str | None = None,
        *,
        images: Sequence[str] = (),
        attachments: Sequence[Attachment] = (),
        partial: bool | None = None,
        ts: int | None = None,
        durable: bool = False,
        **fields: JsonValue,
    ) -> int:
        """Say something, or say it anew: with the time of an earlier message this takes its place."""
        message = ClineMessage.model_validate(
            {
                "ts": NOT_YET if ts is None else ts,
                "type": "say",
                "say": kind,
                "text": None if text is None else await self.mask(text),
                "images": list(images) or None,
                "attachments": await self.masked_attachments(attachments) or None,
                "partial": partial,
                **fields,
            }
        )
        if ts is None:
            return (await self.create(message, durable=durable)).ts
        await self.update(message, durable=durable)
        return ts

    def ask_message(
        self, kind: ClineAsk, text: str | None, *, ts: int | None = None, partial: bool | None = None
    ) -> ClineMessage:
        """A question, not yet asked."""
        return ClineMessage(ts=NOT_YET if ts is None else ts, type="ask", ask=kind, text=text, partial=partial)

    async def create(self, message: ClineMessage, *, durable: bool = False) -> ClineMessage:
        """Add a message; as it was recorded. It is given its time here, unless it was made with that of ``new_message``."""
        if message.ts == NOT_YET:
            message = await self.log.append_ui(message, durable=durable)
        else:
            message = message.model_copy(update={"conversation_history_index": self.log.last_api_seq - 1})
            await self.log.put_ui(message, durable=durable)
        self._remember_place(message)
        if message.partial:
            self._streaming[message.ts] = message
        self._sink.created(self.task_id, message)
        self._emit("created", message)
        return message

    async def update(self, message: ClineMessage, *, durable: bool = False) -> None:
        """Give a message its newest form. While it streams and only grows, the sink hears of what was added."""
        message = await self._in_its_place(message)
        await self.log.put_ui(message, durable=durable)
        before = self._streaming.pop(message.ts, None)
        if message.partial:
            self._streaming[message.ts] = message
            grown = None if before is None else _growth(before, message)
            if grown is not None:
                if grown:
                    self._sink.delta(self.task_id, message.ts, "text", grown)
                return
        self._sink.updated(self.task_id, message)
        self._emit("updated", message)

    def delta(self, ts: int, field: DeltaField, append: str) -> None:
        """A message that streams got longer; what is told here is recorded within a second."""
        self._sink.delta(self.task_id, ts, field, append)

    async def record_partial(self, message: ClineMessage) -> None:
        """Record how far a message has come that streams, telling nobody."""
        await self.log.put_ui(await self._in_its_place(message))

    async def _in_its_place(self, message: ClineMessage) -> ClineMessage:
        """The message with the place in the API history at which it was begun."""
        if message.conversation_history_index is not None:
            return message
        place = self._places.get(message.ts)
        if place is None:
            known = await self.log.ui.get(message.ts)
            place = None if known is None else known.conversation_history_index
        return message if place is None else message.model_copy(update={"conversation_history_index": place})

    def _remember_place(self, message: ClineMessage) -> None:
        if message.conversation_history_index is not None:
            self._places[message.ts] = message.conversation_history_index
            if len(self._places) > _MOST_PLACED:
                del self._places[next(iter(self._places))]

    def _emit(self, action: Literal["created", "updated"], message: ClineMessage) -> None:
        payload = MessageEventPayload.model_construct(task_id=self.task_id, action=action, message=message)
        self._events.emit(MessageEvent.model_construct(payload=(payload,)))

    # ---- what the model is sent

    async def add_api(
        self, role: str, content: list[JsonObject], *, ts: int | None = None, durable: bool = False, **more: JsonValue
    ) -> ApiRecord:
        """Add a message to the API history. Its content is masked already, or is masked here if it is the user's."""
        if role != "assistant":
            content = [await self.mask_block(block) for block in content]
        draft = ApiDraft.model_validate(
            {"role": role, "content": content, "ts": self.log.next_ts() if ts is None else ts, **more}
        )
        return await self._add(draft, durable=durable)

    async def add_answer(self, message: ApiMessage, counted: CountedTokens | None = None) -> ApiRecord:
        """Add what the model said, masked as it streamed. It is on the disk before any of its tools runs."""
        return await self._add(ApiDraft.of(message).model_copy(update={"counted": counted}), durable=True)

    async def _add(self, draft: ApiDraft, *, durable: bool) -> ApiRecord:
        try:
            return await self._held.finish(self._append(draft, durable=durable))
        except asyncio.CancelledError:
            # A line on its way to the log gets there: who goes on from the log must find it, and who listens hear of it.
            await self._held.drain(STOP_SECONDS)
            raise

    async def _append(self, draft: ApiDraft, *, durable: bool) -> ApiRecord:
        record = await self.log.append_api(draft, durable=durable)
        for listener in self._listeners:
            listener(record)
        return record

    # ---- masking

    async def mask(self, text: str) -> str:
        """The text without secrets, in characters that exist; a long one is looked through in a thread."""
        text = sound_text(text)
        if len(text) > _LONG:
            return await asyncio.to_thread(self.masker.mask, text)
        return self.masker.mask(text)

    async def masked_attachments(self, attachments: Sequence[Attachment] | None) -> list[Attachment]:
        """What goes along with a message, without secrets."""
        return [
            one.model_copy(
                update={
                    # The address of a page may have a password in it.
                    "path": await self.mask(one.path),
                    "label": await self.mask(one.label),
                    "content": None if one.content is None else await self.mask(one.content),
                }
            )
            for one in attachments or ()
        ]

    async def mask_block(self, block: JsonObject) -> JsonObject:
        """A content block without secrets. Pictures are data and stay."""
        match block.get("type"):
            case "image":
                return block
            case "text":
                return {**block, "text": await self.mask(str(block.get("text", "")))}
            case "tool_result":
                content = block.get("content")
                if isinstance(content, str):
                    return {**block, "content": await self.mask(content)}
                if isinstance(content, list):
                    parts: list[JsonValue] = [
                        await self.mask_block(part) if isinstance(part, dict) else part for part in content
                    ]
                    return {**block, "content": parts}
                return block
            case _:
                return block


def masked_json(value: JsonValue, masker: Masker) -> JsonValue:
    """The same value with every text in it masked."""
    match value:
        case str():
            return masker.mask(value)
        case list():
            return [masked_json(item, masker) for item in value]
        case dict():
            return {key: masked_json(item, masker) for key, item in value.items()}
        case _:
            return value


def sound_text(text: str) -> str:
    """The text with half a surrogate pair, which no file and no socket takes, as the sign for what cannot be shown."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def text_block(text: str) -> JsonObject:
    """A text as the API history holds it."""
    return {"type": "text", "text": text}


def image_block(image: str) -> JsonObject | None:
    """A picture given as a data URL; None if it is none."""
    head, _, data = image.partition(",")
    if not head.startswith("data:") or not head.endswith(";base64") or not data:
        return None
    media_type = head.removeprefix("data:").removesuffix(";base64")
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}


def _growth(before: ClineMessage, after: ClineMessage) -> str | None:
    """What was added to the text, if nothing else changed."""
    old, new = before.text or "", after.text or ""
    same = before.model_copy(update={"text": None}) == after.model_copy(update={"text": None})
    return new[len(old) :] if same and new.startswith(old) else None
