"""The one error by which a tool tells the model what went wrong."""

from __future__ import annotations

__all__ = ["ToolFailed"]


class ToolFailed(Exception):
    """A tool cannot do what it was asked. The message is for the model: what happened, and what to do instead."""
