"""What is in folders in which somebody works: a file that was listed may be gone when it is read."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["kept_in"]


def kept_in(*folders: Path) -> dict[Path, bytes]:
    """The content of each file in these folders."""
    found: dict[Path, bytes] = {}
    for folder in folders:
        # It passes over folders that are gone.
        for place, _, names in os.walk(folder):
            for path in (Path(place, name) for name in names):
                try:
                    if path.is_file():
                        found[path] = path.read_bytes()
                except FileNotFoundError:
                    # The other name of a file that was being replaced, or of a database that was closed.
                    continue
    return found
