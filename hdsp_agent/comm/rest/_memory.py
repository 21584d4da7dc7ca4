"""What is remembered: to look through, to change, to turn back, and to learn more of now."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

from pydantic import Field

from ...errors import InvalidInput
from ...memory import LONGEST_NOTE, NoteScope
from ...memory.person_memory import MemoryOverview, NoteLine, PersonMemory
from ...wire import WireModel
from ..identity import owner_of
from ..memory_job import LearningRound
from ._rest_endpoint import RestHandler, endpoint

__all__ = [
    "LearnedHandler",
    "LearnedKeepHandler",
    "MemoryHandler",
    "MemoryRunHandler",
    "MemoryUndoHandler",
    "NoteHandler",
    "NotesHandler",
]

_Text = Annotated[str, Field(min_length=1, max_length=LONGEST_NOTE)]


class MemoryQuery(WireModel):
    """From where it is looked at: from a conversation, or from a notebook."""

    task: Annotated[str, Field(min_length=1, max_length=128)] | None = None
    notebook: Annotated[str, Field(min_length=1, max_length=4_096)] | None = None


class MemoryView(WireModel):
    """Everything that is remembered for the caller, and whether more is learned just now."""

    enabled: bool
    running: bool
    last_round: LearningRound | None = None
    """How the last round of learning ended, of those since the server's start."""
    memory: MemoryOverview


class NewNoteBody(WireModel):
    """Something to remember."""

    text: _Text
    scope: NoteScope = "person"
    pinned: bool = False


class NoteChangeBody(WireModel):
    """What is different about a note; what is left out stays."""

    text: _Text | None = None
    pinned: bool | None = None


class LearnedChangeBody(WireModel):
    """What a line that was learned says from now on."""

    text: _Text


class ForgetQuery(WireModel):
    """What is to be forgotten."""

    what: Literal["notes", "learned", "all"]


class ForgottenView(WireModel):
    """What was forgotten."""

    notes: int = 0
    learned: bool = False


class DoneView(WireModel):
    """It was done."""

    done: Literal[True] = True


class UndoneView(WireModel):
    """The version that counts again."""

    version: str


class _MemoryRest(RestHandler):
    """What the handlers below share."""

    async def memory_at(self, query: MemoryQuery) -> PersonMemory:
        """What the caller has, seen from there."""
        return await self.services.memory.of(owner_of(self), query.task, query.notebook)

    def learned_changed(self) -> None:
        """What was learned is different; notes tell of themselves."""
        self.services.memory.learned_changed(owner_of(self))


class MemoryHandler(_MemoryRest):
    """`GET|DELETE memory`"""

    @endpoint("List everything that is remembered for the caller", answer=MemoryView, query=MemoryQuery)
    async def get(self, *, query: MemoryQuery) -> MemoryView:
        """Read from the files: people may change them by hand."""
        access = self.services.memory
        memory = await self.memory_at(query)
        overview = await asyncio.to_thread(memory.overview)
        owner = owner_of(self)
        return MemoryView(
            enabled=access.is_on,
            running=access.job.is_running(owner),
            last_round=access.job.last_round(owner),
            memory=overview,
        )

    @endpoint(
        "Delete the caller's notes, what was learned, or both",
        answer=ForgottenView,
        query=ForgetQuery,
        action="write",
    )
    async def delete(self, *, query: ForgetQuery) -> ForgottenView:
        """Notes of folders stay: they are the folders'."""
        memory = await self.memory_at(MemoryQuery())
        notes, learned = 0, query.what in ("learned", "all")
        if query.what in ("notes", "all"):
            notes = await asyncio.to_thread(memory.delete_notes)
        if learned:
            await (await self.services.memory.job.pipeline()).forget_all(owner_of(self))
            self.learned_changed()
        return ForgottenView(notes=notes, learned=learned)


class NotesHandler(_MemoryRest):
    """`POST memory/notes`"""

    @endpoint("Remember something", answer=NoteLine, body=NewNoteBody, query=MemoryQuery, action="write", status=201)
    async def post(self, *, body: NewNoteBody, query: MemoryQuery) -> NoteLine:
        """Later conversations are told of it."""
        memory = await self.memory_at(query)
        return await asyncio.to_thread(lambda: memory.add(body.text, body.scope, pinned=body.pinned))


class NoteHandler(_MemoryRest):
    """`PATCH|DELETE memory/notes/{note}`"""

    @endpoint("Change a note", answer=NoteLine, body=NoteChangeBody, query=MemoryQuery, action="write")
    async def patch(self, note: str, *, body: NoteChangeBody, query: MemoryQuery) -> NoteLine:
        """Whichever file it is in."""
        if body.text is None and body.pinned is None:
            raise InvalidInput("The request changes nothing in the note. Send what to change.", field="text")
        memory = await self.memory_at(query)
        return await asyncio.to_thread(lambda: memory.edit(note, body.text, pinned=body.pinned))

    @endpoint("Delete a note", answer=NoteLine, query=MemoryQuery, action="write")
    async def delete(self, note: str, *, query: MemoryQuery) -> NoteLine:
        """What it said."""
        memory = await self.memory_at(query)
        return await asyncio.to_thread(memory.delete, note)


class LearnedHandler(_MemoryRest):
    """`PATCH|DELETE memory/learned/{item}`"""

    @endpoint("Change a learned line", answer=DoneView, body=LearnedChangeBody, action="write")
    async def patch(self, item: str, *, body: LearnedChangeBody) -> DoneView:
        """It counts more than what is learned later."""
        memory = await self.memory_at(MemoryQuery())
        await asyncio.to_thread(memory.edit_learned, item, body.text)
        self.learned_changed()
        return DoneView()

    @endpoint("Delete a learned line", answer=DoneView, action="write")
    async def delete(self, item: str) -> DoneView:
        """It is not learned again."""
        memory = await self.memory_at(MemoryQuery())
        await asyncio.to_thread(memory.delete_learned, item)
        self.learned_changed()
        return DoneView()


class LearnedKeepHandler(_MemoryRest):
    """`POST memory/learned/{item}/keep`"""

    @endpoint("Turn a learned line into a note", answer=NoteLine, action="write", status=201)
    async def post(self, item: str) -> NoteLine:
        """A note is always told."""
        memory = await self.memory_at(MemoryQuery())
        return await asyncio.to_thread(memory.keep_learned, item)


class MemoryRunHandler(_MemoryRest):
    """`POST memory/run`"""

    @endpoint("Learn from finished conversations now", answer=DoneView, action="write", status=202)
    async def post(self) -> DoneView:
        """It goes on in the background; `GET memory` says when it is over."""
        await self.memory_at(MemoryQuery())
        await self.services.memory.run_now(owner_of(self))
        return DoneView()


class MemoryUndoHandler(_MemoryRest):
    """`POST memory/undo`"""

    @endpoint("Undo the last change to what was learned", answer=UndoneView, action="write")
    async def post(self) -> UndoneView:
        """Undoing again redoes it."""
        memory = await self.memory_at(MemoryQuery())
        version = await asyncio.to_thread(memory.undo)
        self.learned_changed()
        return UndoneView(version=version)
