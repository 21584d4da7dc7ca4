"""Where conversations, settings and keys are kept unless somebody says otherwise."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["default_storage_dir"]


def default_storage_dir() -> str:
    """The folder that HDSP_AGENT_HOME names, else one in the person's home."""
    return os.environ.get("HDSP_AGENT_HOME") or str(Path.home() / ".hdsp-agent")
