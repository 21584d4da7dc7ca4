"""Whether the disk has room for what is to be recorded. Blocks."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from ..errors import StorageUnavailable

__all__ = ["check_free_space"]

_LEAST_FREE_BYTES: Final = 1024 * 1024


def check_free_space(path: Path) -> None:
    """Raise if next to nothing is free on the disk of this file or folder."""
    if shutil.disk_usage(path).free >= _LEAST_FREE_BYTES:
        return
    reason = "no space left on its disk"
    raise StorageUnavailable(
        f"Conversations cannot be saved in {path}: {reason}. What was recorded is safe. Free some space on that disk.",
        path=str(path), action="write", reason=reason,
    )  # fmt: skip
