"""A conversation in memory, as the store would keep it: two logs, marks as lines of text, and a clock."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from hdsp_agent.messages import ClineMessage, JsonObject
from hdsp_agent.persistence._records import ApiRecord, ApiRole, estimated_tokens
from hdsp_agent.persistence.marks._marks import Mark, parse_mark
from hdsp_agent.persistence.marks._message_manager import MessageManager
from hdsp_agent.persistence.marks._replay import MarkReplay
from tests.persistence._helpers.effective_history import whole_pairs

T = TypeVar("T")


class Conversation:
    """A ``HistoryLog`` with short ways to fill it. ``reads`` counts the messages it gave out."""

    def __init__(self) -> None:
        self.clock = 1000
        self.ui: list[ClineMessage] = []
        self.api: list[ApiRecord] = []
        self.lines: list[str] = []
        self.reads = 0
        self._last_ui_ts = 0
        self.manager = MessageManager(self, now=lambda: self.clock)

    @property
    def last_ui_ts(self) -> int:
        return self._last_ui_ts

    @property
    def last_api_seq(self) -> int:
        return self.api[-1].seq if self.api else 0

    async def ui_between(self, first_ts: int, last_ts: int, *, limit: int, newest: bool) -> Sequence[ClineMessage]:
        latest = {message.ts: message for message in self.ui if first_ts <= message.ts <= last_ts}
        return self._page(list(latest.values()), limit, newest)

    async def api_between(self, first_seq: int, last_seq: int, *, limit: int, newest: bool) -> Sequence[ApiRecord]:
        return self._page(self.api[max(first_seq - 1, 0) : last_seq], limit, newest)

    async def append_mark(self, mark: Mark) -> None:
        self.lines.append(mark.to_json())

    @property
    def marks(self) -> list[Mark]:
        """The marks as another process would read them."""
        marks = [parse_mark(line) for line in self.lines]
        assert not MarkReplay(marks).problems
        return [mark for mark in marks if isinstance(mark, Mark)]

    def reopened(self) -> MessageManager:
        """A manager that knows only what was written down."""
        return MessageManager(self, self.marks, now=lambda: self.clock)

    def tick(self) -> int:
        self.clock += 10
        return self.clock

    def say(self, text: str = "", *, say: str = "text", ts: int | None = None) -> int:
        """A message on screen; its time."""
        ts = self.tick() if ts is None else ts
        self._last_ui_ts = max(self._last_ui_ts, ts)
        self.ui.append(ClineMessage.model_validate({"ts": ts, "type": "say", "say": say, "text": text}))
        return ts

    def ask_to_go_on(self) -> None:
        """The question that a task at rest puts when it is taken up."""
        ts = self.tick()
        self._last_ui_ts = ts
        self.ui.append(ClineMessage(ts=ts, type="ask", ask="resume_task"))

    def write(self, role: ApiRole, content: str | list[JsonObject], *, ts: int | None = 0, summary: str = "") -> int:
        """A message of the API history, now unless another time, or None, is given; its number."""
        seq = self.last_api_seq + 1
        self.api.append(
            ApiRecord(
                seq=seq,
                role=role,
                content=content,
                ts=self.tick() if ts == 0 else ts,
                is_summary=True if summary else None,
                condense_id=summary or None,
                timestamp="2026-01-01T00:00:00.000000Z",
                token_count=estimated_tokens(content),
            )
        )
        return seq

    def ask(self, text: str) -> int:
        """A message of the person, on screen and to the model; its time on screen."""
        ts = self.say(text, say="user_feedback")
        self.write("user", text)
        return ts

    def answer(self, text: str) -> int:
        """A message of the model, on screen and in the history; its time on screen."""
        ts = self.say(text)
        self.write("assistant", text)
        return ts

    def use_tools(self, *calls: str, answered: Iterable[str] | None = None) -> None:
        """A turn with tool calls, and the next with their answers, or only with these of them."""
        answered = calls if answered is None else list(answered)
        self.say("tool", say="tool")
        self.write("assistant", [{"type": "tool_use", "id": call, "name": "run_cell", "input": {}} for call in calls])
        if answered:
            results: list[JsonObject] = [
                {"type": "tool_result", "tool_use_id": call, "content": f"answer to {call}"} for call in answered
            ]
            self.write("user", results)

    async def condense(self, name: str, *, through: int | None = None, keep: Iterable[int] = ()) -> int:
        """A condensation as the agent does it; the time of its event."""
        seq = self.write("user", f"summary {name}", summary=name)
        event = self.tick()
        await self.manager.condense(condense_id=name, summary_seq=seq, event_ts=event, through=through, keep=set(keep))
        return self.say(name, say="condense_context", ts=event)

    async def truncate(self, name: str, fraction: float = 0.5) -> int | None:
        """A truncation as the agent does it; the time of its event if there was one."""
        event = self.tick()
        mark = await self.manager.truncate(truncation_id=name, event_ts=event, fraction=fraction)
        return None if mark is None else self.say(name, say="sliding_window_truncation", ts=event)

    async def seen(self) -> list[str]:
        """The texts on screen."""
        return [message.text or "" for message in await self.manager.ui_page(limit=10_000)]

    async def sent(self) -> list[str]:
        """The texts the model is sent."""
        return [text_of(record) for record in whole_pairs(await self.manager.api_history())]

    def _page(self, found: list[T], limit: int, newest: bool) -> list[T]:
        page = found[-limit:] if newest else found[:limit]
        self.reads += len(page)
        return page


def text_of(record: ApiRecord) -> str:
    """A message in short: its text, ``use x`` and ``result x``."""
    if isinstance(record.content, str):
        return record.content
    parts = []
    for block in record.content:
        match block["type"]:
            case "tool_use":
                parts.append(f"use {block['id']}")
            case "tool_result":
                parts.append(f"result {block['tool_use_id']}")
            case _:
                parts.append(str(block["text"]))
    return ", ".join(parts)
