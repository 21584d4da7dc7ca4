"""The REST endpoints, for what is not a stream."""

from __future__ import annotations

from ._routes import describe, rest_handlers

__all__ = ["describe", "rest_handlers"]
