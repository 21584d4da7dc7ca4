"""Opening files that only their owner can read."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["open_private"]


def open_private(path: Path, flags: int) -> int:
    """Open a file of ours; one that is made is readable by its owner alone, whatever the umask."""
    flags |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(path, flags, 0o600)
    if flags & os.O_CREAT and sys.platform != "win32":
        try:
            if os.fstat(descriptor).st_mode & 0o777 != 0o600:
                os.fchmod(descriptor, 0o600)
        except OSError:
            os.close(descriptor)
            raise
    return descriptor
