"""Who runs this process, and whom what it does belongs to."""

from __future__ import annotations

import getpass
import os
from functools import cache

__all__ = ["person_of_server", "running_person"]


@cache
def running_person() -> str:
    """The name of whoever runs this process, where it has one."""
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):
        # In a container the user id may have no name; on Windows there may be no variable that says it.
        return "owner"


def person_of_server() -> str:
    """Whom conversations belong to that nobody who logged in began: the person a hub started this for, else who runs it."""
    return os.environ.get("JUPYTERHUB_USER") or running_person()
