"""What the memory work needs of models and of the agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from ..providers import ModelClient
from .memory_folder import MemoryFolder
from .no_model import NoModel
from .person_edits import PersonEdits
from .run_log import RunCost

__all__ = [
    "NOT_AS_TOLD",
    "ConsolidationBrief",
    "ConsolidationFailed",
    "Consolidator",
    "MemoryModels",
    "ModelNeededElsewhere",
]


NOT_AS_TOLD: Final = "The model did not write the memory files as instructed."
"""What a person hears; what is wrong with the files is worded for the model."""


class ModelNeededElsewhere(Exception):
    """A conversation uses the model, which answers one at a time: the work is put off."""


class MemoryModels(Protocol):
    """The model that learns from conversations."""

    @property
    def unusable(self) -> NoModel | None:
        """Why nothing can be learned with the models there are; None if something can."""

    def may_read(self, profile: str | None, *, used_local_model: bool = False) -> bool:
        """Whether a conversation with the model of this profile may be read: what stayed on this machine stays there.

        ``used_local_model`` says that a model of this machine was asked in it at some time.
        """

    async def client(self) -> ModelClient:
        """The model, ready to be asked; not the caller's to close. Raises HdspAgentError that says why there is none."""

    def check_free(self) -> None:
        """Raise ModelNeededElsewhere while a conversation uses the same local model."""


@dataclass(frozen=True)
class ConsolidationBrief:
    """What is to be consolidated."""

    mode: Literal["init", "update"]
    changed: Mapping[str, Literal["new", "changed", "gone"]]
    """The summaries' files that are different since the last consolidation."""
    codes: Mapping[str, str]
    """Each conversation's summary file by the code that stands for it."""
    edits: Mapping[str, PersonEdits]
    """What the person changed in the files."""
    notes: str
    """What the person wants remembered, which outranks all that was learned."""
    problem: Callable[[], str | None]
    """What is wrong with the files as they are; None if they can be put in force. Blocks."""
    most_cost: float | None = None
    """US dollars that may be spent on it; None leaves that to who does it."""
    spent: Callable[[RunCost], None] = lambda used: None
    """Hears what it cost, also where it was broken off."""


class Consolidator(Protocol):
    """Has the files of a folder written anew by a model."""

    async def consolidate(self, folder: MemoryFolder, brief: ConsolidationBrief) -> RunCost:
        """Write them; what it cost. Raises ConsolidationFailed, HdspAgentError."""


class ConsolidationFailed(Exception):
    """The files could not be written; the text says why."""

    def __init__(self, reason: str, used: RunCost) -> None:
        super().__init__(reason)
        self.used = used
