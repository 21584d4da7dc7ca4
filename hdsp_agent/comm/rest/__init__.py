"""The REST endpoints, for what is not a stream."""

from __future__ import annotations

from ._openapi import openapi_document
from ._routes import rest_handlers

__all__ = ["openapi_document", "rest_handlers"]
