"""A person's memory folder on one of several servers that share a database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from hdsp_agent.memory import MemoryFolder, NoteFile, NoteFiles
from hdsp_agent.memory.extracted_files import Extracted, ExtractedFiles
from hdsp_agent.memory.memory_folder import HANDBOOK, SUMMARY
from hdsp_agent.memory.person_edits import with_edits
from hdsp_agent.memory.publication import Publication
from hdsp_agent.memory.sharing import SharedFolder
from hdsp_agent.memory.sharing.shared_names import RECORD
from hdsp_agent.messages import TaskId

from ..._helpers.postgres import TasksDatabase

if TYPE_CHECKING:
    from hdsp_agent.persistence.postgres._postgres_database import PostgresDatabase
    from hdsp_agent.persistence.postgres._postgres_memory import PostgresMemory

__all__ = ["ME", "SharedHome", "content", "extracted", "in_line", "publish", "shared_home", "versions"]

ME = "me"


@dataclass
class SharedHome:
    """What one server has, and how it brings it in line."""

    folder: MemoryFolder
    shared: SharedFolder
    database: PostgresDatabase
    memory: PostgresMemory

    @property
    def notes(self) -> NoteFile:
        """The person's own."""
        return NoteFiles(self.folder.root, lambda folder: None).person()

    @property
    def extracted(self) -> ExtractedFiles:
        return ExtractedFiles(self.folder)

    def texts(self) -> list[str]:
        """What the notes say."""
        return [note.text for note in self.notes.read().notes]


@contextmanager
def shared_home(place: Path, tasks: TasksDatabase, role: str = "ada", *, owner: str = ME) -> Iterator[SharedHome]:
    """The memory of a person on one server."""
    from hdsp_agent.persistence.postgres._postgres_database import PostgresDatabase
    from hdsp_agent.persistence.postgres._postgres_memory import PostgresMemory

    database = PostgresDatabase(tasks.url(role))
    memory = PostgresMemory(database)
    folder = MemoryFolder(place / "memories")
    try:
        yield SharedHome(folder, SharedFolder(folder.root, owner, memory), database, memory)
    finally:
        database.close()


def in_line(*homes: SharedHome) -> None:
    """Bring them in line until nobody has news."""
    for _ in range(2):
        for home in homes:
            home.shared.sync()


def content(home: SharedHome) -> dict[str, str]:
    """All files but what is of this folder alone."""
    root = home.folder.root
    return {
        path.relative_to(root).as_posix(): path.read_text()
        for path in root.rglob("*")
        if path.is_file() and path.suffix != ".lock" and not path.name.startswith(RECORD)
    }


def versions(tasks: TasksDatabase, path: str) -> list[str | None]:
    """What the database has of a file, the oldest first."""
    with tasks.connect() as admin:
        found = admin.execute("SELECT content FROM memory_files WHERE path = ? ORDER BY version", (path,))
        return [None if content is None else bytes(content).decode() for (content,) in found]


def publish(folder: MemoryFolder, learned: str) -> None:
    """Put a handbook and a summary in force that say this and what the person wrote, as a consolidation does."""
    publication = Publication(folder)
    edits = publication.edits()
    made = {HANDBOOK: f"# Task Group: x\n\n- {learned}\n", SUMMARY: f"# Summary\n\n- {learned}\n"}
    texts = {name: with_edits(text, edits[name]) for name, text in made.items()}
    publication._put(publication.state(), texts, edits, {}, datetime.now(tz=UTC))


def extracted(number: int, *, taught: str = "Ages are in months.", **fields: object) -> Extracted:
    """What a conversation taught."""
    return Extracted.model_validate(
        {
            "task_id": TaskId(f"0000000{number}"),
            "owner": ME,
            "source_updated_at": 100,
            "began_at": "2026-11-01T10:00:00Z",
            "generated_at": "2026-11-01T20:00:00Z",
            "raw_memory": taught,
            "rollout_summary": taught,
            **fields,
        }
    )
