"""What is remembered between conversations: notes of the person, and what was learned from finished conversations.

What learns, and what people look through, is in ``pipeline`` and ``person_memory``: few conversations need them.
"""

from __future__ import annotations

from .job_table import MEMORY_SCHEMA
from .memories import Memories, MemoryText, TaskMemory, recalled_note
from .memory_folder import MemoryFolder
from .memory_search import MemoryHit, MemoryPassage
from .note_files import LONGEST_NOTE, SCOPES, NoteFile, NoteFiles, NoteScope
from .note_text import Note

__all__ = [
    "LONGEST_NOTE",
    "MEMORY_SCHEMA",
    "SCOPES",
    "Memories",
    "MemoryFolder",
    "MemoryHit",
    "MemoryPassage",
    "MemoryText",
    "Note",
    "NoteFile",
    "NoteFiles",
    "NoteScope",
    "TaskMemory",
    "recalled_note",
]
