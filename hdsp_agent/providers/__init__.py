"""Talking to models: adapters by wire protocol, what is known of models, and what their refusals mean."""

from __future__ import annotations

from ._catalogue import ModelEntry, known_models
from ._classify import classify, is_silently_truncated
from ._model_error import ERROR_CLASSES, PUBLIC_CLASSES, REMEDIES, ErrorClass, ModelError

__all__ = [
    "ERROR_CLASSES",
    "PUBLIC_CLASSES",
    "REMEDIES",
    "ErrorClass",
    "ModelEntry",
    "ModelError",
    "classify",
    "is_silently_truncated",
    "known_models",
]
