"""Where conversations, settings and keys are kept unless somebody says otherwise."""

from __future__ import annotations

import logging
import os
import stat
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

__all__ = [
    "ARTIFACT_STORE_URL_VARIABLE",
    "STORAGE_URL_VARIABLE",
    "default_artifact_store_url",
    "default_storage_backend",
    "default_storage_dir",
    "default_storage_url",
    "home_folder",
]

STORAGE_URL_VARIABLE: Final = "HDSP_AGENT_STORAGE_URL"
ARTIFACT_STORE_URL_VARIABLE: Final = "HDSP_AGENT_ARTIFACT_STORE_URL"

_log = logging.getLogger(__name__)


def default_storage_dir() -> str:
    """The folder that HDSP_AGENT_HOME names, else one in the person's home."""
    return os.environ.get("HDSP_AGENT_HOME") or str(home_folder() / ".hdsp-agent")


def default_storage_backend() -> str:
    """What HDSP_AGENT_STORAGE_BACKEND says conversations are kept in, else files."""
    return os.environ.get("HDSP_AGENT_STORAGE_BACKEND") or "files"


def default_storage_url() -> str:
    """Which PostgreSQL database HDSP_AGENT_STORAGE_URL names, if any. It may hold a password."""
    return os.environ.get(STORAGE_URL_VARIABLE) or ""


def default_artifact_store_url() -> str:
    """Which object store HDSP_AGENT_ARTIFACT_STORE_URL names, if any. It may hold a key."""
    return os.environ.get(ARTIFACT_STORE_URL_VARIABLE) or ""


def home_folder() -> Path:
    """The person's home; for a user without any, as in some containers, a folder of theirs among the temporary ones."""
    try:
        return Path.home()
    except RuntimeError:
        return _instead_of_home()


@cache
def _instead_of_home() -> Path:
    folder = Path(tempfile.gettempdir()) / f"hdsp-agent-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077
    except OSError:
        is_ours = False
    if not is_ours:
        # Somebody else made it: nothing of ours belongs there.
        folder = Path(tempfile.mkdtemp(prefix="hdsp-agent-"))
    _log.warning(
        "This user has no home folder, so everything is kept in %s, which may not last. Set HOME or HDSP_AGENT_HOME.",
        folder,
    )
    return folder
