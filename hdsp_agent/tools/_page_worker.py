"""Turns what a web server sent into text, and of a page Markdown. Run as a process of its own.

A page can be made so that taking it apart takes minutes, all memory or more levels than Python has: a process can be
limited and ended, a thread cannot. Reads one line of JSON, ``{"html": …, "url": …, "charset": …, "most": characters}``,
and after it the page, from standard input; writes the text in UTF-8. Needs nothing of ours.
"""

from __future__ import annotations

import json
import re
import sys
from itertools import islice
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

_MOST_MEMORY: Final = 1 << 30
_ANCHORS: Final = ("", "¶", "#")
"""What links to a heading from itself."""
_UNSEEN: Final = ("script", "style", "noscript", "template", "svg", "iframe")


def main() -> None:
    """Write the text. What goes wrong is the page's doing: the last line of the traceback tells it."""
    _limit_memory()
    wanted = json.loads(sys.stdin.buffer.readline())
    data = sys.stdin.buffer.read()
    text = html_text(data, wanted["charset"], wanted["url"]) if wanted["html"] else plain_text(data, wanted["charset"])
    sys.stdout.buffer.write(text[: wanted["most"]].encode("utf-8", "replace"))


def plain_text(data: bytes, charset: str) -> str:
    """As the server says it is encoded, or as UTF-8 where nothing is called so."""
    try:
        return data.decode(charset, "replace")
    except (LookupError, UnicodeError):
        return data.decode("utf-8", "replace")


def html_text(data: bytes, charset: str, url: str) -> str:
    """The page as Markdown: headings, links, tables and code stay what they are."""
    from bs4 import BeautifulSoup

    page = BeautifulSoup(data, "html.parser", from_encoding=charset)
    for unseen in page(_UNSEEN):
        unseen.decompose()
    title = page.title.get_text(" ", strip=True) if page.title else ""
    for tag in page(("title",)):
        tag.decompose()
    _point_to_whole_addresses(page, url)
    is_in_page = any(heading.get_text(" ", strip=True) == title for heading in page("h1"))
    body = page.body or page
    try:
        text = _markdown(body)
    except RecursionError:
        lines = (" ".join(line.split()) for line in body.get_text("\n").splitlines())
        text = "\n".join(line for line in lines if line)
    return f"# {title}\n\n{text}" if title and not is_in_page else text


def _markdown(body: Tag) -> str:
    from markdownify import ATX, MarkdownConverter

    converter = MarkdownConverter(
        heading_style=ATX, bullets="-", code_language_callback=_language, table_infer_header=True,
        escape_asterisks=False, escape_underscores=False, escape_misc=False,
    )  # fmt: skip
    return converter.convert_soup(body).strip()


def _language(block: Tag) -> str:
    """What a page says its code is written in, mostly by a class of the block or of what is in it or around it."""
    around = [block, *block.find_all("code", limit=1), *islice(block.parents, 2)]
    names = [name for each in around for name in each.get_attribute_list("class") if name]
    found = (re.fullmatch(r"(?:lang|language|highlight)-(?:source-)?([\w+#-]{1,20})", str(name)) for name in names)
    return next((each[1] for each in found if each is not None and each[1] != "default"), "")


def _point_to_whole_addresses(page: BeautifulSoup, url: str) -> None:
    """A link can be followed as it stands; pictures that are in the page itself, and scripts, lead nowhere."""
    for name, kind in (("href", "a"), ("src", "img")):
        for tag in page(kind):
            given = tag.get(name)
            try:
                whole = urljoin(url, given) if isinstance(given, str) else ""
            except ValueError:
                whole = ""
            if whole.startswith(("http:", "https:")) and whole.partition("#")[0] != url.partition("#")[0]:
                tag[name] = whole
            elif kind == "a" and tag.get_text(strip=True) in _ANCHORS:
                tag.decompose()
            elif kind == "a":
                del tag[name]
            else:
                tag.replace_with(f"[{alt}]" if isinstance(alt := tag.get("alt"), str) and alt else "")


def _limit_memory() -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    except (ImportError, ValueError, OSError):
        # Where there are no such limits, the time limit has to do.
        return


if __name__ == "__main__":
    main()
