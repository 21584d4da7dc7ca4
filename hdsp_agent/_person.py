"""Who runs this process."""

from __future__ import annotations

import getpass
from functools import cache

__all__ = ["running_person"]


@cache
def running_person() -> str:
    """The name of whoever runs this process, where it has one."""
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):
        # In a container the user id may have no name; on Windows there may be no variable that says it.
        return "owner"
