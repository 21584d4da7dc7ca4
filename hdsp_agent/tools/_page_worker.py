"""Turns what a web server sent into text. Run as a process of its own.

A page can be made so that taking it apart takes minutes, all memory or more levels than Python has: a process can be
limited and ended, a thread cannot. Reads one line of JSON, ``{"html": …, "charset": …, "most": characters}``, and
after it the page, from standard input; writes the text in UTF-8. Needs nothing of ours.
"""

from __future__ import annotations

import json
import sys
from typing import Final

_MOST_MEMORY: Final = 1 << 30
_UNSEEN: Final = ("script", "style", "noscript", "template", "svg", "iframe")


def main() -> None:
    """Write the text. What goes wrong is the page's doing: the last line of the traceback tells it."""
    _limit_memory()
    wanted = json.loads(sys.stdin.buffer.readline())
    data = sys.stdin.buffer.read()
    text = html_text(data, wanted["charset"]) if wanted["html"] else plain_text(data, wanted["charset"])
    sys.stdout.buffer.write(text[: wanted["most"]].encode("utf-8", "replace"))


def plain_text(data: bytes, charset: str) -> str:
    """As the server says it is encoded, or as UTF-8 where nothing is called so."""
    try:
        return data.decode(charset, "replace")
    except (LookupError, UnicodeError):
        return data.decode("utf-8", "replace")


def html_text(data: bytes, charset: str) -> str:
    """What a person would read of the page, a line for each piece."""
    from bs4 import BeautifulSoup

    page = BeautifulSoup(data, "html.parser", from_encoding=charset)
    for unseen in page(_UNSEEN):
        unseen.decompose()
    title = page.title.get_text(" ", strip=True) if page.title else ""
    lines = (" ".join(line.split()) for line in (page.body or page).get_text("\n").splitlines())
    return "\n".join([*([f"# {title}", ""] if title else []), *(line for line in lines if line)])


def _limit_memory() -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    except (ImportError, ValueError, OSError):
        # Where there are no such limits, the time limit has to do.
        return


if __name__ == "__main__":
    main()
