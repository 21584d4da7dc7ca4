"""Where a server keeps what a database cannot have: now, because it is away, or ever. Blocks."""

from __future__ import annotations

from pathlib import Path
from typing import Final

__all__ = ["REFUSED_SUFFIX", "kept_apart", "spool_folder"]

REFUSED_SUFFIX: Final = ".refused"


def spool_folder(home: Path) -> Path:
    """Where what is recorded waits for a database that is away."""
    return home / ".tasks.postgres.spool"


def kept_apart(home: Path) -> Path | None:
    """The folder in which messages are that no database got, because another server had taken over; None if there are none."""
    folder = spool_folder(home)
    return folder if any(folder.glob(f"*{REFUSED_SUFFIX}")) else None
