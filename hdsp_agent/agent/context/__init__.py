"""What a model is sent of a conversation while it grows: built, kept within its window, and mended when it is refused."""

from __future__ import annotations

from ._plain import PlainContext, Surrounded, SystemPrompt
from ._recovery import Recovery, Remedied
from ._seen import SeenRequest, seen_by_model
from ._upkeep import ContextUpkeep

__all__ = [
    "ContextUpkeep",
    "PlainContext",
    "Recovery",
    "Remedied",
    "SeenRequest",
    "Surrounded",
    "SystemPrompt",
    "seen_by_model",
]
