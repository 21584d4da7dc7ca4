"""The pages for administrators of a hub."""

from __future__ import annotations

from .routes import admin_routes

__all__ = ["admin_routes"]
