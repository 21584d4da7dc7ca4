"""The text of a fetched page, made by a process that can be ended."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from pathlib import Path
from typing import Final

from . import _page_worker
from ._tool_failed import ToolFailed

__all__ = ["page_text"]

_WORKER: Final = str(Path(_page_worker.__file__))


async def page_text(shown: str, data: bytes, *, html: bool, charset: str, most: int) -> str:
    """The first characters of the text, at most so many. Cancelling ends the process."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-I", _WORKER,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    request = json.dumps({"html": html, "url": shown, "charset": charset, "most": most}).encode() + b"\n"
    talk = asyncio.ensure_future(process.communicate(request + data))
    try:
        text, trouble = await asyncio.shield(talk)
    finally:
        if not talk.done():
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            # What it wrote must be read, or it stays a zombie.
            await asyncio.shield(talk)
    if process.returncode != 0:
        lines = trouble[-2000:].decode("utf-8", "replace").split("\n")
        reason = next((line.strip()[:300] for line in reversed(lines) if line.strip()), "its parser gave up")
        raise ToolFailed(f"{shown} cannot be turned into text: {reason}. Download it with a command if you need it.")
    return await asyncio.to_thread(text.decode, "utf-8", "replace")
