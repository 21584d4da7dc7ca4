"""The text of a PDF."""

from __future__ import annotations

import subprocess
import sys
import time
from io import BufferedReader
from pathlib import Path
from typing import Final

from .._threads import Stop
from ._tool_failed import ToolFailed

__all__ = ["pdf_text"]

_LARGEST: Final = 100 << 20
_SECONDS: Final = 60.0
_LOOK_SECONDS: Final = 0.05
_PACKAGES: Final = Path(__file__).parents[2]


def pdf_text(shown: str, file: BufferedReader, size: int, stop: Stop) -> bytes:
    """The text of all pages as UTF-8. Blocks; ends soon after ``stop`` says so."""
    if size > _LARGEST:
        raise ToolFailed(
            f"{shown} is a PDF of {size:,} bytes, too large to be read here. Split it, or read it in the kernel."
        )
    file.seek(0)
    command = [sys.executable, "-m", "hdsp_agent.tools._pdf_worker"]
    # No name or content of the file is on the command line.
    child = subprocess.Popen(  # noqa: S603 -- our own module
        command,
        stdin=file,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # With -m, Python imports from the folder it is started in first: that must not be the workspace.
        cwd=_PACKAGES,
    )
    deadline = time.monotonic() + _SECONDS
    try:
        while True:
            try:
                text, trouble = child.communicate(timeout=_LOOK_SECONDS)
                break
            except subprocess.TimeoutExpired:
                if stop() or time.monotonic() > deadline:
                    raise ToolFailed(f"Reading {shown} took more than {_SECONDS:.0f} s and was given up.") from None
    finally:
        if child.poll() is None:
            child.kill()
            child.communicate()
    if child.returncode != 0:
        reason = trouble.decode("utf-8", "replace").strip() or "it is damaged"
        raise ToolFailed(f"The text of {shown} cannot be read: {reason}. Try pdftotext, or a library in the kernel.")
    if not text.replace(b"-", b"").strip():
        raise ToolFailed(f"{shown} has no text.")
    return text
