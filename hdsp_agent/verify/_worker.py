"""Verifies one notebook in a process of its own, and tells of it in lines of JSON. It ends with whoever started it.

The first line that it is given is the notebook's JSON, or nothing where its file has it.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final, TextIO, TypeAlias

from ..errors import HdspAgentError
from ._report import written_report
from ._verification import VerifyOptions, VerifyProgress, verify_notebook

_STOPPED: Final = 130

Tell: TypeAlias = Callable[[Mapping[str, object]], None]


def main() -> int:
    """Verify the notebook that the command line names, in a copy in the folder that it names next."""
    # What libraries print is not for whoever reads our lines.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def tell(told: Mapping[str, object]) -> None:
        print(json.dumps(told), file=out, flush=True)

    try:
        path, copy_into = map(Path, sys.argv[1:3])
        content = sys.stdin.buffer.readline().decode().strip() or None
        asyncio.run(_verify(path, VerifyOptions(content=content, copy_into=copy_into), tell))
    except HdspAgentError as error:
        tell({"error": {"code": error.code, "message": error.message, "params": error.params}})
    except asyncio.CancelledError:
        return _STOPPED
    return 0


async def _verify(path: Path, options: VerifyOptions, tell: Tell) -> None:
    _end_when_told()

    def progressed(progress: VerifyProgress) -> None:
        tell({"progress": asdict(progress)})

    report = await verify_notebook(path, replace(options, on_progress=progressed))
    tell({"report": written_report(report)})


def _end_when_told() -> None:
    """Cancel this task at a signal, or when nobody holds the other end of the input any more: the kernel and the copy go then."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    def end() -> None:
        if not task.cancelling():
            task.cancel()

    def wait_for_end(given: TextIO) -> None:
        given.read()
        with suppress(RuntimeError):
            # It is over already.
            loop.call_soon_threadsafe(end)

    with suppress(NotImplementedError):
        # Windows has none.
        loop.add_signal_handler(signal.SIGTERM, end)
    threading.Thread(target=wait_for_end, args=(sys.stdin,), daemon=True).start()


if __name__ == "__main__":
    sys.exit(main())
