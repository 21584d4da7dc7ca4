"""What is in folders in which somebody works: a file that was listed may be gone when it is read."""

from __future__ import annotations

from pathlib import Path

__all__ = ["kept_in"]


def kept_in(*folders: Path) -> dict[Path, bytes]:
    """The content of each file in these folders."""
    found: dict[Path, bytes] = {}
    for folder in folders:
        for path in folder.rglob("*"):
            try:
                found[path] = path.read_bytes()
            except (FileNotFoundError, IsADirectoryError):
                # A folder, or the other name of a file that was being replaced, or of a database that was closed.
                continue
    return found
