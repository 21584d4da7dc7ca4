"""Bringing in conversations of Roo Code, Cline and Kilo Code, of older layouts, and of our own exports."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeVar

from ...errors import Conflict, HdspAgentError, InvalidInput, StorageUnavailable, UnknownTask
from ...messages import ClineMessage, HistoryItem, TaskId, words_of
from .._records import ApiDraft, SummaryDraft, estimated_tokens
from .._task_log import TaskLog
from .._task_store import TaskStore
from .._trace import task_logger
from ..history._index import HistoryIndex
from ..marks._marks import CondenseMark
from ..masking._masker import Masker
from ..upkeep._work_progress import Progress
from ._embedded import EmbeddedConversation
from ._import_embedded import EmbeddedTask
from ._import_images import KeptImage
from ._import_json import ImportFinding, ImportFindings
from ._import_layouts import open_task
from ._import_messages import Converter, ImportedMessage, fresh_masker
from ._import_own import ExportedTask
from ._import_plan import IMPORTED, ImportTaskPlan, MayWorkIn, nowhere, task_id_of
from ._import_raw import RawTask
from ._import_sources import EXPORT_VERSION, ImportableTask, find_tasks

__all__ = ["ImportOutcome", "ImportedTask", "TaskImportReport", "import_embedded", "import_tasks"]

T = TypeVar("T")

logger = logging.getLogger(__name__)

ImportOutcome = Literal["imported", "would_import", "already_there", "empty", "failed"]

_BATCH_RECORDS: Final = 50
_BATCH_BYTES: Final = 256 * 1024
_INDEXED_TEXTS: Final = 40


@dataclass(frozen=True)
class ImportedTask:
    """What became of one task, how much came in, and what was found wrong in its files."""

    source: Path
    task_id: TaskId
    outcome: ImportOutcome
    title: str = ""
    ui_messages: int = 0
    api_messages: int = 0
    marks: int = 0
    findings: tuple[ImportFinding, ...] = ()
    left_folder: str | None = None
    """The folder it named and does not work in here."""

    @property
    def problems(self) -> list[ImportFinding]:
        """What was lost, and why."""
        return [finding for finding in self.findings if finding.weight == "problem"]


@dataclass
class TaskImportReport:
    """What was imported, or would be. ``findings`` are about no task in particular."""

    dry_run: bool = False
    tasks: list[ImportedTask] = field(default_factory=list)
    findings: list[ImportFinding] = field(default_factory=list)

    def count(self, outcome: ImportOutcome) -> int:
        """How many tasks this became of."""
        return sum(task.outcome == outcome for task in self.tasks)

    @property
    def problems(self) -> list[ImportFinding]:
        """All that was lost, and why."""
        return [
            *(finding for finding in self.findings if finding.weight == "problem"),
            *(problem for task in self.tasks for problem in task.problems),
        ]


async def import_tasks(
    source: Path,
    store: TaskStore,
    index: HistoryIndex | None,
    *,
    masker: Masker | None,
    progress: Progress | None = None,
    dry_run: bool = False,
    user: str | None = None,
    may_work_in: MayWorkIn = nowhere,
) -> TaskImportReport:
    """Import whatever tasks are at ``source``; what it is shows by itself. The source is only read.

    A task keeps the folder that its file names where ``may_work_in`` says so. Else it works where the server does that
    opens it: whoever wrote the file does not choose which files are the agent's own.

    A task that is there already is passed over, one whose import was interrupted is imported anew. Only a storage that
    refuses ends the import early: ``StorageUnavailable``, and it can be run again. Masking begins anew in every task.
    """
    findings = ImportFindings()
    found = await asyncio.to_thread(find_tasks, source, findings)
    report = TaskImportReport(dry_run)
    seen: set[TaskId] = set()
    for done, each in enumerate(found):
        if progress is not None:
            progress("import", done, len(found))
        work = _Import(each, store, index, fresh_masker(masker), seen, may_work_in, dry_run=dry_run, user=user)
        task = await work.run()
        report.tasks.append(task)
        seen.add(task.task_id)
    if progress is not None:
        progress("import", len(found), len(found))
    report.findings = findings.all()
    return report


async def import_embedded(
    conversation: EmbeddedConversation,
    store: TaskStore,
    *,
    task_id: TaskId,
    notebook: str,
    workspace: str | None,
    masker: Masker | None,
    user: str | None,
) -> ImportedTask:
    """Make a task of this id of what a notebook carries. One that is there already stays as it is."""
    found = ImportableTask(Path(notebook), "notebook", conversation.task_id)

    def open_it(found: ImportableTask, findings: ImportFindings) -> RawTask:
        return EmbeddedTask(found, findings, conversation, task_id=task_id, notebook=notebook, workspace=workspace)

    # The folder is the caller's own choice.
    work = _Import(
        found, store, None, fresh_masker(masker), set(), lambda _: True, dry_run=False, user=user, opened=open_it
    )
    return await work.run()


class _Import:
    """The import of one task."""

    def __init__(
        self,
        found: ImportableTask,
        store: TaskStore,
        index: HistoryIndex | None,
        masker: Masker | None,
        seen: set[TaskId],
        may_work_in: MayWorkIn,
        *,
        dry_run: bool,
        user: str | None,
        opened: Callable[[ImportableTask, ImportFindings], RawTask] = open_task,
    ) -> None:
        self._opened = opened
        self._found = found
        self._store = store
        self._index = index
        self._seen = seen
        self._may_work_in = may_work_in
        self._left_folder: str | None = None
        self._dry_run = dry_run
        self._user = user
        self._findings = ImportFindings()
        self._converter = Converter(masker, self._findings)
        self._id = TaskId(found.source_id)
        self._texts: list[str] = []

    async def run(self) -> ImportedTask:
        """Import it, and say what became of it."""
        try:
            raw = await asyncio.to_thread(self._opened, self._found, self._findings)
            self._id = await asyncio.to_thread(task_id_of, raw)
            _check_version(raw)
            if (self._dry_run and self._id in self._seen) or await self._is_whole():
                return self._outcome("already_there")
            plan = await asyncio.to_thread(ImportTaskPlan.of, raw, self._converter, self._may_work_in)
            if plan is None:
                self._findings.add(self._found.path, "It contains no messages.", weight="note")
                return self._outcome("empty")
            item = await asyncio.to_thread(plan.item)
            self._left_folder = await asyncio.to_thread(lambda: plan.left_folder)
            if self._left_folder is not None:
                reason = f"It worked in {self._left_folder}; here it works in the folder of the server that opens it."
                self._findings.add(self._found.path, reason, weight="note")
            if self._dry_run:
                await self._look(plan)
                return self._outcome("would_import", plan, item)
            return self._outcome("imported" if await self._write(plan, item) else "already_there", plan, item)
        except StorageUnavailable:
            raise
        except (HdspAgentError, OSError, ValueError, RecursionError) as error:
            reason = error.message if isinstance(error, HdspAgentError) else f"It could not be imported: {error}"
            self._findings.add(self._found.path, reason)
            task_logger(logger, self._id).warning("The task could not be imported: %s", reason)
            return self._outcome("failed")

    async def _is_whole(self) -> bool:
        """Whether the task that is there is complete; one whose import was interrupted is removed."""
        try:
            reader = await self._store.view(self._id)
            state = await reader.read_state()
        except UnknownTask:
            return False
        if IMPORTED not in reader.metadata.config or state.history_item is not None:
            if self._index is not None and not self._dry_run and state.history_item is not None:
                await self._catch_up(self._index, state.history_item)
            return True
        try:
            if not self._dry_run:
                # Waits a moment for whoever works on it: another import may be about to end.
                if (await self._store.amend(self._id, lambda state: state)).history_item is not None:
                    return self._is_other_s()
                await self._store.delete(self._id)
        except Conflict:
            return self._is_other_s()
        except UnknownTask:
            pass
        return False

    def _is_other_s(self) -> bool:
        """True, with a word about it: somebody else brings the task in just now."""
        self._findings.add(self._found.path, "Another process is importing it at the same time.", weight="note")
        return True

    async def _came_meanwhile(self) -> bool:
        try:
            await self._store.view(self._id)
        except HdspAgentError:
            return False
        return self._is_other_s()

    async def _catch_up(self, index: HistoryIndex, item: HistoryItem) -> None:
        """An import may have been interrupted right before its last step."""
        if await index.get(item.id) is not None:
            return
        reader = await self._store.view(self._id)
        messages = await reader.ui.page(after=0, limit=_INDEXED_TEXTS)
        await index.upsert(item, text="\n".join(map(words_of, messages)), owner=self._user)

    async def _look(self, plan: ImportTaskPlan) -> None:
        async for _ in _batches(plan.ui()):
            pass
        async for _ in _batches(plan.api()):
            pass

    async def _write(self, plan: ImportTaskPlan, item: HistoryItem) -> bool:
        """Write it all; False if somebody else was first."""
        new = await asyncio.to_thread(plan.new_task, self._user)
        creating = asyncio.ensure_future(self._store.create(new))
        try:
            log = await asyncio.shield(creating)
        except asyncio.CancelledError:
            with suppress(HdspAgentError):
                await self._give_up(await creating)
            raise
        except (Conflict, StorageUnavailable):
            # Two that make one folder at once: what the later one is told depends on the moment.
            if await self._came_meanwhile():
                return False
            raise
        try:
            await self._fill(log, plan, item)
            await log.finish("completed", resumable=True)
        except BaseException:
            await self._give_up(log)
            raise
        if self._index is not None:
            item = item.model_copy(update={"size": await self._store.size(self._id)})
            await self._index.upsert(item, text="\n".join(self._texts), owner=self._user)
        return True

    async def _give_up(self, log: TaskLog) -> None:
        """A task that is there in part would look whole in the history."""
        with suppress(HdspAgentError):
            await log.close()
            await self._store.delete(self._id)

    async def _fill(self, log: TaskLog, plan: ImportTaskPlan, item: HistoryItem) -> None:
        artifacts = plan.raw.artifacts()
        while (data := await asyncio.to_thread(next, artifacts, None)) is not None:
            await self._keep(log, data)
        async for messages in _batches(plan.ui()):
            await self._put_ui(log, messages)
        async for drafts in _batches(plan.api()):
            for _, images in drafts:
                await self._keep_images(log, images)
            await _all(log.append_api(draft) for draft, _ in drafts)
        for run in await asyncio.to_thread(lambda: list(plan.tools())):
            await log.append_tool(run)
        for summary in await asyncio.to_thread(lambda: list(plan.summaries())):
            await log.append_summary(summary)
        for mark in plan.marks:
            if isinstance(mark, CondenseMark) and plan.raw.tagged:
                await self._summarise(log, mark)
            await log.append_mark(mark)
        await log.sync()
        log.update_state(
            llm_call_count=plan.totals.model_calls,
            tool_call_count=max(plan.totals.tool_calls, log.state.tool_call_count),
            total_tokens_used=item.tokens_in + item.tokens_out,
            last_activity="import",
            history_item=item,
        )

    async def _put_ui(self, log: TaskLog, messages: Sequence[ImportedMessage[ClineMessage]]) -> None:
        for message, images in messages:
            await self._keep_images(log, images)
            if (text := words_of(message)) and len(self._texts) < _INDEXED_TEXTS:
                self._texts.append(text)
        await _all(log.put_ui(message) for message, _ in messages)

    async def _summarise(self, log: TaskLog, mark: CondenseMark) -> None:
        """A summary that was among the messages, for the file of summaries as well."""
        summary = await log.api.get(mark.summary_seq)
        if summary is not None and mark.after >= 1:
            text = summary.content if isinstance(summary.content, str) else _text(summary)
            tokens = estimated_tokens(text)
            await log.append_summary(
                SummaryDraft(start_seq=1, end_seq=mark.after, summary=text, original_tokens=0, summary_tokens=tokens)
            )

    async def _keep_images(self, log: TaskLog, images: Sequence[KeptImage]) -> None:
        for image in images:
            await self._keep(log, image.data)

    async def _keep(self, log: TaskLog, data: bytes) -> None:
        try:
            await log.put_artifact(data)
        except InvalidInput as error:
            self._findings.add(self._found.path, f"An image or output was left out: {error.message}")

    def _outcome(
        self, outcome: ImportOutcome, plan: ImportTaskPlan | None = None, item: HistoryItem | None = None
    ) -> ImportedTask:
        return ImportedTask(
            source=self._found.path,
            task_id=self._id,
            outcome=outcome,
            title="" if item is None else (item.title or item.task),
            ui_messages=0 if plan is None else len(plan.times.times),
            api_messages=0 if plan is None else plan.api_count,
            marks=0 if plan is None else len(plan.marks),
            findings=tuple(self._findings.all()),
            left_folder=self._left_folder,
        )


def _check_version(raw: RawTask) -> None:
    if isinstance(raw, ExportedTask) and raw.version > EXPORT_VERSION:
        raise InvalidInput(
            f"{raw.found.path.name} was exported by a later version of this agent. Update it, then import again."
        )


async def _batches(records: Iterator[ImportedMessage[T]]) -> AsyncIterator[list[ImportedMessage[T]]]:
    """The records, read and converted in a thread, as many at once as do not take much memory."""

    def read() -> list[ImportedMessage[T]]:
        batch: list[ImportedMessage[T]] = []
        size = 0
        while len(batch) < _BATCH_RECORDS and size < _BATCH_BYTES:
            brought = next(records, None)
            if brought is None:
                break
            batch.append(brought)
            size += _size(brought)
        return batch

    while batch := await asyncio.to_thread(read):
        yield batch


async def _all(appends: Iterator[Awaitable[object]]) -> None:
    """Hand them over one after the other, then wait for all: one flush to the disk serves many."""
    await asyncio.gather(*appends)


def _size(brought: ImportedMessage[T]) -> int:
    record = brought.record
    images = sum(len(image.data) for image in brought.images)
    if isinstance(record, ClineMessage):
        along = sum(len(one.content or "") for one in record.attachments or ())
        return images + len(record.text or "") + along + sum(map(len, record.images or ()))
    return images + (4 * estimated_tokens(record.content) if isinstance(record, ApiDraft) else 0)


def _text(record: ApiDraft) -> str:
    blocks = [] if isinstance(record.content, str) else record.content
    return "\n\n".join(str(block["text"]) for block in blocks if isinstance(block.get("text"), str))
