"""A task that this process works on, wherever it is kept: what is recorded in which order, numbered and remembered."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final, TypeVar

from typing_extensions import Unpack

from .._background_tasks import BackgroundTasks
from .._iso_time import iso_time
from ..errors import Conflict, StorageUnavailable
from ..messages import ClineMessage, TaskId
from ._pending_lines import LineWriter, WrittenLog
from ._records import (
    ApiDraft,
    ApiRecord,
    Outcome,
    StoredTaskState,
    Stream,
    SummaryDraft,
    SummaryRecord,
    ToolDraft,
    ToolRecord,
    estimated_tokens,
)
from ._streaming import Streaming
from ._task_reader import TaskReader
from ._task_streams import numbered_line, ui_line
from ._timestamps import TimestampAllocator
from ._trace import TaskLogger
from .files._state_keeper import StateChange, StateKeeper
from .marks._marks import Mark

__all__ = ["REMEMBERED", "TaskLog"]

REMEMBERED: Final = 20
"""How many messages of a stream stay in memory."""


L = TypeVar("L", bound=WrittenLog)


class TaskLog(TaskReader):
    """A task that this process works on; a backend's own says how the task ends and where artifacts go.

    What an append returned from is in the OS; with ``durable`` it is on the disk. ``StorageUnavailable`` means that it
    is not recorded and may be tried again; ``paused`` holds that error until an append succeeds. ``Conflict`` means
    that another process took the task.
    """

    _logger: TaskLogger

    def _record_with(
        self, writer: LineWriter[L], files: Mapping[Stream, L], keeper: StateKeeper, on_end: Callable[[TaskId], None]
    ) -> None:
        """Take what is written with, once what is read with is there."""

        def append(
            stream: Stream, data: bytes, *, durable: bool, on_success: Callable[[], None] | None = None
        ) -> asyncio.Future[None]:
            return writer.append(files[stream], data, durable=durable, on_success=on_success)

        async def close_files() -> None:
            for file in files.values():
                await writer.close_file(file)

        self._append = append
        self._close_files = close_files
        self._room_for_lines = writer.room
        self._files: Mapping[Stream, WrittenLog] = files
        self._keeper = keeper
        self._on_end = on_end
        self._times = TimestampAllocator()
        self._beginning = asyncio.Lock()
        self._first_number: dict[Stream, int] = {}
        self._system_prompt: ApiRecord | None = None
        self._newest_ui = 0
        self._ui_on_the_way: dict[int, int] = {}
        self._streaming = Streaming(self._write_ui)
        self._held = BackgroundTasks()
        self._ending = asyncio.Lock()
        self._flushing = False
        self._ended = False

    @abstractmethod
    async def put_artifact(self, data: bytes) -> str:
        """Keep a long output or image, and return its name."""

    @abstractmethod
    async def _end_task(self, state: StoredTaskState, outcome: Outcome) -> None:
        """Move the task to the completed ones, and give its lock up."""

    @abstractmethod
    async def _release(self) -> None:
        """Give the task's lock up."""

    def load(self) -> None:
        """Read what is remembered of the task, from the ends of its logs. Blocks."""
        for stream, records in self.streams.items():
            records.load_recent()
            self._first_number[stream] = records.newest_key + 1
        self._newest_ui = self.ui.newest_key
        self._times.saw(self._newest_ui)
        for ts in (*(record.ts for record in self.api.recent), *(mark.ts for mark in self.marks.recent)):
            self._times.saw(ts or 0)
        prompts = [record for record in (*self.api.first(), *self.api.recent) if record.role == "system"]
        self._system_prompt = prompts[-1] if prompts else None

    def begin(self) -> None:
        """Begin to beat."""
        self._keeper.start()

    @property
    def state(self) -> StoredTaskState:
        """How it is getting on, as last changed here."""
        return self._keeper.state

    @property
    def paused(self) -> StorageUnavailable | None:
        """Why nothing can be recorded just now."""
        reasons = (file.paused for file in self._files.values())
        return next((reason for reason in reasons if reason is not None), self._keeper.trouble)

    @property
    def system_prompt(self) -> ApiRecord | None:
        """The newest system message."""
        return self._system_prompt

    @property
    def last_ui_ts(self) -> int:
        """The newest ``ts`` given to a UI message, 0 if there is none."""
        return max(self._newest_ui, *self._ui_on_the_way, 0)

    @property
    def last_api_seq(self) -> int:
        """The newest ``seq`` of the API log, 0 if there is none."""
        return self._first_number["api"] + self._files["api"].accepted - 1

    async def ui_between(self, first_ts: int, last_ts: int, *, limit: int, newest: bool) -> Sequence[ClineMessage]:
        """At most ``limit`` messages of this span: the newest of them, or the oldest."""
        return await self.ui.between(first_ts, last_ts, limit=limit, newest=newest)

    async def api_between(self, first_seq: int, last_seq: int, *, limit: int, newest: bool) -> Sequence[ApiRecord]:
        """At most ``limit`` records of this span: the newest of them, or the oldest."""
        return await self.api.between(first_seq, last_seq, limit=limit, newest=newest)

    def next_ts(self) -> int:
        """A time for a new message: greater than all others of this task."""
        return self._times.next()

    @asynccontextmanager
    async def new_message(self) -> AsyncIterator[int]:
        """The time of a message that is recorded within the block. No other message begins meanwhile."""
        async with self._beginning:
            await self._room()
            yield self._times.next()

    async def append_ui(self, message: ClineMessage, *, durable: bool = False) -> ClineMessage:
        """Record a new message, which is given its time when its line is appended; it with that time."""
        async with self.new_message() as ts:
            # As Roo Code's predecessor counts: from 0, and -1 before the first.
            message = message.model_copy(update={"ts": ts, "conversation_history_index": self.last_api_seq - 1})
            self._streaming.forget(ts, streams=bool(message.partial))
            written = self._hand_over(message, durable=durable)
        await written
        return message

    async def put_ui(self, message: ClineMessage, *, durable: bool = False) -> None:
        """Record the newest form of a message, or one that has its time. Of forms that stream one a second is kept."""
        known = message.ts in self._ui_on_the_way or self.ui.is_recent(message.ts)
        if not known and message.ts <= self._newest_ui and await self.ui.get(message.ts) is None:
            raise Conflict(
                f"The message {message.ts} would come before the newest one, {self._newest_ui}.",
                task=self.task_id,
                ts=message.ts,
            )
        if message.partial and known and not durable:
            await self._streaming.put(message)
            return
        self._streaming.forget(message.ts, streams=bool(message.partial))
        await self._write_ui(message, durable=durable)

    async def append_api(self, draft: ApiDraft, *, durable: bool = False) -> ApiRecord:
        """Record and number a message of the API history."""
        await self._room()
        draft = _as_draft(draft)
        seq, timestamp, tokens = self._next_number("api"), iso_time(), estimated_tokens(draft.content)
        record = ApiRecord.model_validate({**draft.__dict__, "seq": seq, "timestamp": timestamp, "token_count": tokens})
        line = numbered_line("seq", seq, b'"timestamp":"%s","token_count":%d,' % (timestamp.encode(), tokens), draft)
        if draft.ts is not None:
            self._times.saw(draft.ts)

        def remember() -> None:
            self.api.remember(seq, record)
            if record.role == "system":
                self._system_prompt = record

        await self._append("api", line, durable=durable, on_success=remember)
        return record

    async def append_summary(self, draft: SummaryDraft) -> SummaryRecord:
        """Record and number a summary; it is on the disk then."""
        await self._room()
        number, created = self._next_number("summaries"), iso_time()
        ratio = round(draft.summary_tokens / draft.original_tokens, 3) if draft.original_tokens else 1.0
        fields = {name: getattr(draft, name) for name in SummaryDraft.model_fields}
        record = SummaryRecord(**fields, summary_id=number, created_at=created, compression_ratio=ratio)
        line = numbered_line("summary_id", number, b"", record.model_copy(update={"summary_id": None}))

        def remember() -> None:
            self.summaries.remember(number, record)
            self._keeper.change(compression_count=self.state.compression_count + 1)

        await self._append("summaries", line, durable=True, on_success=remember)
        return record

    async def append_tool(self, draft: ToolDraft) -> ToolRecord:
        """Record and number a tool's run."""
        await self._room()
        number, timestamp = self._next_number("tools"), iso_time()
        fields = {name: getattr(draft, name) for name in ToolDraft.model_fields}
        record = ToolRecord(**fields, seq=number, timestamp=timestamp)
        line = numbered_line("seq", number, b"", record.model_copy(update={"seq": None}))

        def remember() -> None:
            self.tools.remember(number, record)
            self._keeper.change(tool_call_count=self.state.tool_call_count + 1)

        await self._append("tools", line, durable=False, on_success=remember)
        return record

    async def append_mark(self, mark: Mark) -> None:
        """Record a mark; it is on the disk then, and so is everything it speaks of."""
        await self._room()
        for stream in ("ui", "api", "summaries"):
            await self._append(stream, b"", durable=True)
        self._check_ours()
        number = self._next_number("marks")
        self._times.saw(mark.ts)
        await self._append(
            "marks",
            numbered_line("seq", number, b"", mark),
            durable=True,
            on_success=lambda: self.marks.remember(number, mark),
        )

    async def sync(self) -> None:
        """Return when the disk has everything recorded so far, as at the end of a turn."""
        self._check_ours()
        await self._streaming.flush()
        written = [self._append(stream, b"", durable=True) for stream, file in self._files.items() if file.accepted]
        await asyncio.gather(*written)

    def update_state(self, **changes: Unpack[StateChange]) -> None:
        """Change the state; it is written soon, many changes at once."""
        self._keeper.change(**changes)

    async def save_state(self) -> None:
        """Write the state now."""
        self._check_ours()
        await self._keeper.save()

    async def finish(
        self, outcome: Outcome = "completed", *, error: str | None = None, resumable: bool = False
    ) -> None:
        """End the work on the task and move it to the completed ones. If the disk refuses, it may be tried again."""
        await self._held.finish(self._finish(outcome, error, resumable))

    async def close(self) -> None:
        """Let go of the task as it is: it is paused, and can be resumed."""
        await self._held.finish(self._close())

    async def _finish(self, outcome: Outcome, error: str | None, resumable: bool) -> None:
        async with self._ending:
            self._check_open()
            await self._let_go_of_files()
            try:
                state = self.state.model_copy(update={"error": error, "resumable": resumable})
                await self._end_task(state, outcome)
            except BaseException:
                self._keeper.start()
                raise
            # Written already; from here on for whoever asks.
            self._keeper.change(status=outcome, error=error, resumable=resumable)
            self._end()

    async def _close(self) -> None:
        async with self._ending:
            if self._ended:
                return
            await self._let_go_of_files()
            try:
                if self._keeper.lost is None:
                    self._keeper.change(status="paused")
                    await self._keeper.save()
            except (StorageUnavailable, Conflict) as error:
                self._logger.warning("The task's last state was not saved: %s", error)
            await self._release()
            self._end()

    async def _let_go_of_files(self) -> None:
        self._flushing = True
        try:
            await self._streaming.flush()
        except (StorageUnavailable, Conflict) as error:
            self._logger.warning("The end of a streaming message was not saved: %s", error)
        finally:
            self._flushing = False
        await self._keeper.stop()
        await self._close_files()

    def _end(self) -> None:
        self._ended = True
        self._on_end(self.task_id)

    async def _write_ui(self, message: ClineMessage, *, durable: bool = False) -> None:
        await self._room()
        await self._hand_over(message, durable=durable)

    def _hand_over(self, message: ClineMessage, *, durable: bool) -> Awaitable[None]:
        """Hand a message's line over at once; to be awaited until it is recorded."""
        file, ts = self._files["ui"], message.ts
        first = ts > self._newest_ui and self._ui_on_the_way.get(ts) != file.attempt
        if first:
            self._ui_on_the_way[ts] = file.attempt
        self._times.saw(ts)

        def remember() -> None:
            self._newest_ui = max(self._newest_ui, ts)
            self._ui_on_the_way.pop(ts, None)
            self.ui.remember(ts, message)

        line = ui_line(message, replaces=not first)
        attempt = file.attempt
        appended = self._append("ui", line, durable=durable, on_success=remember)
        return self._written(appended, ts, attempt)

    async def _written(self, appended: asyncio.Future[None], ts: int, attempt: int) -> None:
        try:
            await appended
        except StorageUnavailable:
            if self._ui_on_the_way.get(ts) == attempt:
                del self._ui_on_the_way[ts]
            raise

    async def _room(self) -> None:
        self._check_ours()
        await self._room_for_lines()
        self._check_ours()

    def _check_ours(self) -> None:
        self._check_open(ending=self._ending.locked() and not self._flushing)

    def _check_open(self, *, ending: bool = False) -> None:
        if self._keeper.lost is not None:
            raise self._keeper.lost
        if self._ended or ending:
            raise Conflict(f"The work on task {self.task_id} has ended. Resume it first.", task=self.task_id)

    def _next_number(self, stream: Stream) -> int:
        return self._first_number[stream] + self._files[stream].accepted


def _as_draft(draft: ApiDraft) -> ApiDraft:
    """The message alone, if what is given was recorded before, in another task."""
    if not isinstance(draft, ApiRecord):
        return draft
    return ApiDraft.model_construct(**{name: getattr(draft, name) for name in ApiDraft.model_fields})
