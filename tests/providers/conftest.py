"""What the tests of the providers share."""

from __future__ import annotations

from .._helpers.model_server import model_server

__all__ = ["model_server"]
