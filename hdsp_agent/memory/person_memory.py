"""All that is remembered for one person, to look through and to change. Everything here blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field

from ..errors import HdspAgentError, NotFound
from ..messages import TaskId
from ..wire import WireModel
from .extracted_files import ExtractedFiles
from .learned_items import LearnedItem, LearnedItems
from .memory_folder import MemoryFileKind, MemoryFolder
from .note_files import NoteFile, NoteFiles, NoteScope
from .note_text import Note
from .publication import Publication
from .run_log import MemoryRun, RunLog
from .usage_counts import UsageCounts, UsageOfKind

__all__ = [
    "LearnedItemView",
    "LearnedSource",
    "MemoryOverview",
    "MemorySpending",
    "NoteLine",
    "PersonMemory",
    "UnreadableNotes",
]

_RECENT_RUNS: Final = 20
_Amount = Annotated[int, Field(ge=0)]


class NoteLine(WireModel):
    """A note, and for what it counts."""

    id: str
    scope: NoteScope
    text: str
    day: str | None = None
    """When it was said, as YYYY-MM-DD."""
    task: str | None = None
    """The conversation it was said in."""
    pinned: bool = False


class LearnedSource(WireModel):
    """A conversation that something was learned from."""

    task_id: TaskId
    began_at: str
    slug: str | None = None


class LearnedItemView(WireModel):
    """A line that was learned, where it stands, and from which conversations it is."""

    id: str
    file: str
    section: str
    text: str
    sources: list[LearnedSource]


class UnreadableNotes(WireModel):
    """Notes that cannot be read, and why."""

    scope: NoteScope
    reason: str


class MemorySpending(WireModel):
    """What learning took, of the runs that are still known."""

    runs: _Amount = 0
    failed: _Amount = 0
    tokens_in: _Amount = 0
    tokens_out: _Amount = 0
    cost: float = 0.0
    """In US dollars."""


class MemoryOverview(WireModel):
    """Everything that is remembered for a person here."""

    folder: str
    notes: list[NoteLine]
    unreadable: list[UnreadableNotes] = Field(default_factory=list)
    learned: list[LearnedItemView]
    conversations: _Amount = 0
    """How many conversations something was learned from."""
    consolidated_at: str | None = None
    can_undo: bool = False
    spending: MemorySpending
    recent: list[MemoryRun]
    """The newest runs, the newest first."""
    usage: dict[MemoryFileKind, UsageOfKind]


@dataclass(frozen=True)
class PersonMemory:
    """One person's, as it counts in a folder and for a notebook."""

    folder: MemoryFolder
    notes: NoteFiles
    workspace: Path | None = None
    notebook: str | None = None

    def overview(self) -> MemoryOverview:
        """All of it. Notes that cannot be read are named, and the rest is shown. Raises StorageUnavailable."""
        notes, unreadable = self._all_notes()
        extracted = list(ExtractedFiles(self.folder).all())
        publication = Publication(self.folder)
        runs = RunLog(self.folder).runs()
        return MemoryOverview(
            folder=str(self.folder.root),
            notes=notes,
            unreadable=unreadable,
            learned=[_line(item) for item in LearnedItems(self.folder).all()],
            conversations=sum(not each.is_empty for each in extracted),
            consolidated_at=publication.state().consolidated_at,
            can_undo=bool(publication.versions()),
            spending=_spent(runs),
            recent=runs[: -_RECENT_RUNS - 1 : -1],
            usage=UsageCounts(self.folder).counts(),
        )

    def add(self, text: str, scope: NoteScope, *, task: str | None = None, pinned: bool = False) -> NoteLine:
        """Keep a note. Raises InvalidInput, NotAllowed, StorageUnavailable."""
        file = self.notes.find(scope, self.workspace, self.notebook)
        return _note(scope, file.add(text, day=_today(), task=task, pinned=pinned))

    def edit(self, note_id: str, text: str | None, *, pinned: bool | None) -> NoteLine:
        """Change a note. Raises NotFound and what ``add`` raises."""
        file = self._file_of(note_id)
        return _note(file.scope, file.edit(note_id, text, pinned=pinned, day=_today() if text is not None else None))

    def delete(self, note_id: str) -> NoteLine:
        """Forget a note. Raises NotFound, StorageUnavailable."""
        file = self._file_of(note_id)
        return _note(file.scope, file.delete(note_id))

    def edit_learned(self, item_id: str, text: str) -> None:
        """Change a line that was learned; that outranks what is learned later. Raises NotFound, InvalidInput."""
        LearnedItems(self.folder).edit(item_id, text)

    def delete_learned(self, item_id: str) -> None:
        """Take a line out that was learned, for good. Raises NotFound, StorageUnavailable."""
        LearnedItems(self.folder).delete(item_id)

    def keep_learned(self, item_id: str) -> NoteLine:
        """Make a note of the person's own of a line that was learned: it is told always. Raises NotFound."""
        item = next((item for item in LearnedItems(self.folder).all() if item.id == item_id), None)
        if item is None:
            raise NotFound("This line has changed or is gone. Reload and try again.", item=item_id)
        return self.add(item.text, "person", task=item.sources[0].task_id if item.sources else None, pinned=True)

    def delete_notes(self) -> int:
        """Forget the person's own notes; those of folders are the folders'. How many there were."""
        return self.notes.person().delete_all()

    def undo(self) -> str:
        """Go back to what was learned before the last consolidation. Raises NotFound, StorageUnavailable."""
        return Publication(self.folder).undo()

    def _all_notes(self) -> tuple[list[NoteLine], list[UnreadableNotes]]:
        notes: list[NoteLine] = []
        unreadable: list[UnreadableNotes] = []
        for file in self._files():
            try:
                notes += [_note(file.scope, note) for note in file.read().notes]
            except HdspAgentError as error:
                unreadable.append(UnreadableNotes(scope=file.scope, reason=error.message))
        return notes, unreadable

    def _files(self) -> Iterator[NoteFile]:
        yield from self.notes.in_force(self.workspace, self.notebook)

    def _file_of(self, note_id: str) -> NoteFile:
        def has(file: NoteFile) -> bool:
            try:
                return any(note.id == note_id for note in file.read().notes)
            except HdspAgentError:
                return False

        return _first(self._files(), has) or self.notes.person()


def _first(files: Iterator[NoteFile], wanted: Callable[[NoteFile], bool]) -> NoteFile | None:
    return next((file for file in files if wanted(file)), None)


def _note(scope: NoteScope, note: Note) -> NoteLine:
    return NoteLine(id=note.id, scope=scope, text=note.text, day=note.day, task=note.task, pinned=note.pinned)


def _line(item: LearnedItem) -> LearnedItemView:
    sources = [
        LearnedSource(task_id=each.task_id, began_at=each.began_at, slug=each.rollout_slug) for each in item.sources
    ]
    return LearnedItemView(id=item.id, file=item.file, section=item.section, text=item.text, sources=sources)


def _spent(runs: list[MemoryRun]) -> MemorySpending:
    return MemorySpending(
        runs=len(runs),
        failed=sum(run.outcome == "failed" for run in runs),
        tokens_in=sum(run.used.tokens_in for run in runs),
        tokens_out=sum(run.used.tokens_out for run in runs),
        cost=sum(run.used.cost for run in runs),
    )


def _today() -> str:
    return datetime.now(tz=UTC).astimezone().date().isoformat()
