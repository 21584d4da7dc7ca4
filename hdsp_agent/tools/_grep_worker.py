"""Finds lines that match a pattern. Run as a process of its own, because a pattern can take for ever and this one can be ended.

Reads one JSON object from standard input: ``pattern``, ``most`` matches, ``longest`` line shown, and either ``files`` or
``text``. Writes one JSON line for each file with matches, ``{"file", "matches": [[line, text], …]}``, and at the end
``{"done": true, "more": …}``. Needs nothing but the standard library.
"""

from __future__ import annotations

import codecs
import json
import os
import re
import stat
import sys
from collections.abc import Iterator

LARGEST_FILE = 10 * 1024 * 1024


def lines_of(data: bytes) -> Iterator[tuple[int, str]]:
    """The numbered lines of a text; none for one that is binary."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = data.decode("utf-16", "replace")
    elif b"\0" in data:
        return
    else:
        text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    lines = text.split("\n")
    if not lines[-1]:
        # Behind the last line end there is no line.
        lines.pop()
    for number, line in enumerate(lines, 1):
        yield number, line.removesuffix("\r")


def content_of(path: str) -> bytes:
    """What is in an ordinary file of acceptable size; nothing otherwise."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST_FILE:
            return b""
        try:
            return file.read(LARGEST_FILE)
        except OSError:
            return b""


def main() -> None:
    """Answer one request."""
    request = json.load(sys.stdin)
    pattern = re.compile(request["pattern"])
    left, longest, more = request["most"], request["longest"], False
    sources = request.get("files")
    for source in [None] if sources is None else sources:
        if more:
            break
        matches: list[tuple[int, str]] = []
        data = request["text"].encode("utf-8", "surrogatepass") if source is None else content_of(source)
        for number, line in lines_of(data):
            found = pattern.search(line)
            if found is None:
                continue
            if not left:
                more = True
                break
            left -= 1
            matches.append((number, excerpt(line, found.start(), longest)))
        if matches:
            answer({"file": source, "matches": matches})
    answer({"done": True, "more": more})


def answer(line: dict[str, object]) -> None:
    """Write one line at once."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def excerpt(line: str, at: int, longest: int) -> str:
    """The line, or of a long one the part around the match."""
    if len(line) <= longest:
        return line
    start = max(0, min(at - longest // 4, len(line) - longest))
    before, after = "…" if start else "", "…" if start + longest < len(line) else ""
    return f"{before}{line[start : start + longest]}{after}"


if __name__ == "__main__":
    main()
