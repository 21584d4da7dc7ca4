"""What is remembered between conversations: notes of the person, and what was learnt from finished conversations."""

from __future__ import annotations

from .job_table import MEMORY_SCHEMA, JobRow, job_rows
from .memories import Memories, MemoryText, TaskMemory
from .memory_folder import MemoryFolder
from .memory_search import MemoryHit, MemoryPassage
from .model_port import ConsolidationBrief, ConsolidationFailed, Consolidator, MemoryModels, ModelNeededElsewhere
from .note_files import LONGEST_NOTE, SCOPES, NoteFile, NoteFiles, NoteScope
from .note_text import Note
from .person_edits import PersonEdits
from .person_memory import LearntLine, LearntSource, MemoryOverview, NoteLine, PersonMemory
from .pipeline import MemoryPipeline, RoundReport
from .run_log import MemoryRun, RunCost, RunLog

__all__ = [
    "LONGEST_NOTE",
    "MEMORY_SCHEMA",
    "SCOPES",
    "ConsolidationBrief",
    "ConsolidationFailed",
    "Consolidator",
    "JobRow",
    "LearntLine",
    "LearntSource",
    "Memories",
    "MemoryFolder",
    "MemoryHit",
    "MemoryModels",
    "MemoryOverview",
    "MemoryPassage",
    "MemoryPipeline",
    "MemoryRun",
    "MemoryText",
    "ModelNeededElsewhere",
    "Note",
    "NoteFile",
    "NoteFiles",
    "NoteLine",
    "NoteScope",
    "PersonEdits",
    "PersonMemory",
    "RoundReport",
    "RunCost",
    "RunLog",
    "TaskMemory",
    "job_rows",
]
