"""Reads a PDF from standard input and writes its text, page by page. Run as a program of its own.

A PDF can be made so that reading it takes all memory or never ends: a process can be limited and ended, a thread cannot.
"""

from __future__ import annotations

import io
import logging
import sys
from typing import Final

_MOST_MEMORY: Final = 2 << 30
_MOST_PAGES: Final = 5_000


def main() -> int:
    """Write the text; the exit code says whether the file could be read."""
    _limit_memory()
    logging.disable(logging.CRITICAL)
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    try:
        reader = PdfReader(io.BytesIO(sys.stdin.buffer.read()), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            sys.stderr.write("it needs a password")
            return 1
        for number, page in enumerate(reader.pages[:_MOST_PAGES], start=1):
            text = f"--- page {number} of {len(reader.pages)} ---\n{page.extract_text()}\n"
            sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    except (
        PyPdfError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        IndexError,
        RecursionError,
        MemoryError,
        NotImplementedError,
        OSError,
    ) as error:
        sys.stderr.write(f"{type(error).__name__}: {error}"[:500])
        return 1
    return 0


def _limit_memory() -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    except (ImportError, ValueError, OSError):
        # Where there are no such limits, the time limit has to do.
        return


if __name__ == "__main__":
    sys.exit(main())
