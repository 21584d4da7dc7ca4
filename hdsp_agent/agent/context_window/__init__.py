"""What a model is sent of a conversation while it grows: built, kept within its window, and mended when it is refused."""

from __future__ import annotations

from .error_recovery import ErrorRecovery
from .full_context import FullContext
from .model_view import SeenRequest, seen_by_model
from .window import ContextWindow

__all__ = [
    "ContextWindow",
    "ErrorRecovery",
    "FullContext",
    "SeenRequest",
    "seen_by_model",
]
