"""What the tests of the providers share."""

from __future__ import annotations

from ..modelserver import model_server

__all__ = ["model_server"]
