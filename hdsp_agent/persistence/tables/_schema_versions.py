"""What a person reads when a database has the tables of another version."""

from __future__ import annotations

from ...errors import StorageUnavailable

__all__ = ["newer_tables", "older_tables"]


def newer_tables(name: str, version: int, known: int) -> StorageUnavailable:
    """The error when a newer version made the tables."""
    return StorageUnavailable(
        f"{name} was written by a newer version of HDSP Agent (its tables are at {version}, this version knows "
        f"{known}). Nothing was changed. Update HDSP Agent, or choose another database for the tasks.",
        path=name, action="open", reason="newer",
    )  # fmt: skip


def older_tables(name: str) -> StorageUnavailable:
    """The error when who only reads meets the tables of an older version."""
    return StorageUnavailable(
        f"{name} has the tables of an older version of HDSP Agent. Nothing was changed. Start the server once, which "
        "brings them up to date.",
        path=name, action="open", reason="older",
    )  # fmt: skip
