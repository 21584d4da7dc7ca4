"""What a model is sent of a conversation while it grows: built, kept within its window, and mended when it is refused."""

from __future__ import annotations

from ._dimensions import Dimension, Entry, bounded
from ._plain import PlainContext
from ._recovery import Recovery, RecoveryNotice, Remedied
from ._seen import SeenHistories, SeenRequest, seen_by_model
from ._surroundings import renumbered
from ._surroundings_now import SurroundingsNow
from ._surroundings_parts import facts
from ._surroundings_told import Standing, Surrounded, SystemPrompt
from ._upkeep import ContextUpkeep

__all__ = [
    "ContextUpkeep",
    "Dimension",
    "Entry",
    "PlainContext",
    "Recovery",
    "RecoveryNotice",
    "Remedied",
    "SeenHistories",
    "SeenRequest",
    "Standing",
    "Surrounded",
    "SurroundingsNow",
    "SystemPrompt",
    "bounded",
    "facts",
    "renumbered",
    "seen_by_model",
]
