"""What a person may do with what is remembered for them: for REST and the panel."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .._background_tasks import BackgroundTasks
from ..config import ContextProxy
from ..errors import Conflict, ForbiddenByOperator, HdspAgentError, NotFound
from ..memory import Memories, NoteFiles
from ..memory.memory_folder import ASIDE_FOLDER
from ..memory.no_model import no_model_text
from ..memory.person_memory import PersonMemory
from ..messages import TaskId
from ._owner import Owner
from .history import History
from .memory_job import MemoryJob
from .notice_board import Notices

if TYPE_CHECKING:
    from ..memory.sharing import SyncReport
    from ._bad_input_log import Log

__all__ = ["MemoryAccess"]

_TOGETHER_SECONDS: Final = 0.1


class MemoryAccess:
    """Each person's own, as it counts where they look from."""

    def __init__(
        self,
        memories: Memories,
        job: MemoryJob,
        history: History,
        config: ContextProxy,
        workspace: Path,
        notices: Notices,
        log: Log,
    ) -> None:
        self._memories = memories
        self._notices = notices
        self.job: Final = job
        self._history = history
        self._config = config
        self._workspace = workspace
        self._log = log
        self._held = BackgroundTasks()
        self._tell: Callable[[Owner], None] = lambda owner: None
        self._waiting: dict[Owner, asyncio.TimerHandle] = {}

    def start(self, tell: Callable[[Owner], None]) -> None:
        """Begin to learn, and have ``tell`` called when what is remembered for somebody changed, or learning ended."""
        loop = asyncio.get_running_loop()
        self._tell = tell

        def written(owner: str) -> None:
            loop.call_soon_threadsafe(self.changed, Owner(owner))

        def unreadable(count: int) -> None:
            loop.call_soon_threadsafe(self._unreadable, count)

        def joined(owner: str, report: SyncReport) -> None:
            loop.call_soon_threadsafe(self._joined, report)

        self._memories.on_changed = written
        self._memories.on_unreadable = unreadable
        if (sharing := self._memories.sharing) is not None:
            sharing.on_taken = written
            sharing.on_joined = joined
            sharing.start(self._history.person)
        self.job.on_round = self.changed
        self.job.start()

    def _unreadable(self, count: int) -> None:
        # Everybody on the server sees it, so it counts and never quotes.
        if count:
            self._notices.post(
                "memory",
                "warning",
                "memory_unreadable",
                f"Some memory files cannot be read ({count}), so conversations do not use them. See the Memory page, or run "
                "'hdsp-agent doctor'.",
                {"count": count},
            )
        else:
            self._notices.withdraw("memory")

    def _joined(self, report: SyncReport) -> None:
        if report.twice:
            self._notices.post(
                "memory_twice",
                "warning",
                "memory_changed_twice",
                f"Memory was changed on two servers at once ({report.twice}). Both versions are kept, one below the other. "
                "See the Memory page, and delete what you do not need.",
                {"count": report.twice},
            )
        if report.aside:
            self._notices.post(
                "memory_aside",
                "warning",
                "memory_set_aside",
                f"Memory files were changed on two servers at once ({len(report.aside)}). One version counts, and the other is in "
                f"the folder {ASIDE_FOLDER} of your memory folder.",
                {"count": len(report.aside), "folder": ASIDE_FOLDER},
            )

    def learned_changed(self, owner: Owner) -> None:
        """What was learned is different for this person: other servers of theirs hear of it, too."""
        if self._memories.sharing is not None:
            self._memories.sharing.changed(owner)
        self.changed(owner)

    def changed(self, owner: Owner) -> None:
        """Something is different for this person. Of many changes at once the pages hear once."""
        if owner not in self._waiting:
            self._waiting[owner] = asyncio.get_running_loop().call_later(_TOGETHER_SECONDS, self._tell_now, owner)

    def _tell_now(self, owner: Owner) -> None:
        del self._waiting[owner]
        self._tell(owner)

    @property
    def is_on(self) -> bool:
        """Whether anything is remembered."""
        return self._config.settings.memory_enabled

    @property
    def is_allowed(self) -> bool:
        """Whether the operator allows it."""
        return self._config.policy.allow_memory

    async def of(self, owner: Owner, task_id: str | None, notebook: str | None) -> PersonMemory:
        """What counts in a conversation, or else in the server's folder. Raises ForbiddenByOperator."""
        if not self.is_allowed:
            raise ForbiddenByOperator("Your administrator does not allow memory.", field="memoryEnabled")
        folder = self._workspace
        if task_id is not None:
            try:
                metadata = (await self._history.task(owner, task_id)).metadata
            except NotFound:
                # A page asks as soon as a conversation begins, and it may not be stored yet.
                metadata = None
            if metadata is not None:
                folder = Path(metadata.workspace or folder)
                notebook = notebook or (metadata.notebook.path if metadata.notebook is not None else None)
        await asyncio.to_thread(self._memories.bring_up_to_date, owner)
        return self._memories.of_person(owner, folder, notebook)

    def notebook_moved(self, old: str, new: str) -> None:
        """A notebook, or a folder of notebooks, was renamed: the notes about it follow."""
        notes = self._memories.notes(self._history.person)
        self._held.begin(self._move(notes, old, new))

    async def _move(self, notes: NoteFiles, old: str, new: str) -> None:
        try:
            await asyncio.to_thread(notes.notebook_moved, self._workspace, old, new)
        except (OSError, HdspAgentError) as error:
            self._log.warning("Notes about the notebook %s could not be moved with it: %s", new, error)

    async def stop(self) -> None:
        """Finish what is under way, and put the rest off."""
        await self.job.stop()
        # A thread may still write a note when there is no loop any more.
        self._memories.on_changed = lambda owner: None
        self._memories.on_unreadable = lambda count: None
        if (sharing := self._memories.sharing) is not None:
            sharing.on_taken = lambda owner: None
            sharing.on_joined = lambda owner, report: None
            await asyncio.to_thread(sharing.stop)
        for handle in self._waiting.values():
            handle.cancel()
        self._waiting.clear()
        await self._held.drain()

    async def run_now(self, owner: Owner) -> None:
        """Learn what there is to learn now. Raises Conflict where memory is turned off, or no model could learn."""
        if not self.is_on:
            raise Conflict("Memory is turned off. Turn it on in the settings first.")
        if (why := (await self.job.pipeline()).unusable) is not None:
            raise Conflict(no_model_text(why), no_model=why)
        self.job.run_now(owner).add_done_callback(
            lambda task: None if task.cancelled() else self._told(task.exception())
        )
        self.changed(owner)

    def _told(self, error: BaseException | None) -> None:
        if error is not None:
            self._log.warning("Memory: nothing could be learned: %s", error)

    async def deleted(self, owner: Owner, task_ids: list[str]) -> None:
        """The person deleted conversations: what was learned from them goes as well."""
        try:
            await (await self.job.pipeline()).forget(owner, [TaskId(task_id) for task_id in task_ids])
            self.changed(owner)
        except HdspAgentError as error:
            self._log.warning("What was learned from deleted conversations could not be deleted: %s", error)
