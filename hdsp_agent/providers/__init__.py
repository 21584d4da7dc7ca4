"""Talking to models: for now, what is known of them."""

from __future__ import annotations

from ._catalogue import ModelEntry, known_models

__all__ = ["ModelEntry", "known_models"]
