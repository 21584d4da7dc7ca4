"""What the memory work did and cost, run by run, in a file that lines are added to. Everything here blocks."""

from __future__ import annotations

import logging
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field, ValidationError

from .._private_files import locked, make_private_folder, read_with_identity, replace_file
from ..wire import WireModel
from .memory_folder import MemoryFolder

__all__ = ["MemoryRun", "RunCost", "RunLog", "RunOutcome"]

logger = logging.getLogger(__name__)

RunOutcome: TypeAlias = Literal["saved", "nothing", "external", "failed"]
_FILE: Final = "runs.jsonl"
_MOST: Final = 1_000
_LOCK_SECONDS: Final = 10.0
_Amount = Annotated[int, Field(ge=0)]


class RunCost(WireModel):
    """What a run took of its model."""

    model: str | None = None
    tokens_in: _Amount = 0
    tokens_out: _Amount = 0
    cost: float = 0.0
    """In US dollars; 0 where the price is not known."""


class MemoryRun(WireModel):
    """One extraction or consolidation."""

    kind: Literal["extract", "consolidate"]
    key: str
    """The conversation's id, or whose memory it was."""
    began_at: str
    ended_at: str
    outcome: RunOutcome
    error: str | None = None
    used: RunCost = RunCost()


class RunLog:
    """The runs of one person, of which the newest are kept."""

    def __init__(self, folder: MemoryFolder) -> None:
        self._path: Final = folder.root / _FILE

    def add(self, run: MemoryRun) -> None:
        """Record a run. Raises StorageUnavailable."""
        make_private_folder(self._path.parent)
        with locked(self._path, _LOCK_SECONDS):
            runs = [*self.runs(), run][-_MOST:]
            replace_file(self._path, "".join(f"{each.to_json()}\n" for each in runs).encode())

    def runs(self) -> list[MemoryRun]:
        """All that are kept, oldest first; a damaged line is passed over."""
        found = read_with_identity(self._path)
        runs: list[MemoryRun] = []
        for line in (found[0] if found else b"").splitlines():
            try:
                runs.append(MemoryRun.model_validate_json(line))
            except ValidationError:
                logger.warning("A damaged line of %s was skipped", self._path)
        return runs
