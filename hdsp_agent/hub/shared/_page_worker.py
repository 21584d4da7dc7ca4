"""Makes the page of one shared conversation, in a process of its own: what strangers write may take any time to read.

The conversation comes as JSON and the page goes out as JSON. HTML is of a short list of elements, and links say where they
lead. It is run by its path and imports nothing of this package, so that it begins at once.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import secrets
import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from bleach.sanitizer import Cleaner

__all__ = ["main"]

_MOST_MEMORY: Final = 2 * 1024**3
_GROWTH: Final = 8
"""How many times as long as its Markdown the HTML of a message may be."""
_SHORT: Final = 64 * 1024
_MOST_PARTS: Final = 50_000
"""Messages, images and long outputs: each takes time whenever the page is shown."""
_BEGINNINGS: Final = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/webp": (b"RIFF",),
}

_TABLE: Final = frozenset({"table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td"})
_ELEMENTS: Final = _TABLE | {
    "a", "blockquote", "br", "code", "del", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "span", "strong", "ul",
}  # fmt: skip
_CELL_SPANS: Final = ("colspan", "rowspan")
_DEEPEST_HEADING: Final = 6
_NUMBER: Final = re.compile(r"[0-9]{1,4}")


def main() -> int:
    """Read one conversation, and write its page."""
    _limit_memory()
    json.dump(_page(json.load(sys.stdin.buffer)), sys.stdout)
    return 0


def _page(conversation: dict[str, Any]) -> dict[str, Any]:
    if sum(1 + len(one["images"]) + len(one["outputs"]) for one in conversation["messages"]) > _MOST_PARTS:
        raise ValueError("too many parts")
    left_out = conversation["imagesLeftOut"]
    messages: list[dict[str, Any]] = []
    for message in conversation["messages"]:
        images = [
            f"data:{image['mediaType']};base64,{image['data']}"
            for image in message["images"]
            if _is_image(image["mediaType"], image["data"])
        ]
        left_out += len(message["images"]) - len(images)
        messages.append(
            {
                "ts": message["ts"],
                "by": message["by"],
                "html": _safe_html(message["text"]) + _safe_table(message.get("table", "")),
                "images": images,
                "outputs": [output["text"] for output in message["outputs"]],
            }
        )
    return {
        "asOf": conversation["asOf"],
        "imagesLeftOut": left_out,
        "outputsLeftOut": conversation["outputsLeftOut"],
        "messages": messages,
    }


def _limit_memory() -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    except (ImportError, ValueError, OSError):
        # Where there is no such limit, or a lower one, the time limit has to do.
        return


def _is_image(media_type: str, data: str) -> bool:
    try:
        return base64.b64decode(data, validate=True).startswith(_BEGINNINGS[media_type])
    except (binascii.Error, ValueError):
        return False


def _safe_html(text: str) -> str:
    """What a message says, as HTML. HTML in it is shown as it is written."""
    code: list[Markup] = []
    # Nobody who writes a text knows what stands for code in it.
    mark = secrets.token_hex(16)
    written = _written(text, code, mark)
    if len(written) > _GROWTH * len(text) + _SHORT:
        raise ValueError("a message becomes too long")
    html = str(_cleaner().clean(written))
    return re.sub(f"<pre>{mark}-([0-9]+)</pre>", lambda found: f"<pre><code>{code[int(found[1])]}</code></pre>", html)


def _safe_table(html: str) -> str:
    """A table that a cell showed; of everything else in it only the words stay."""
    return str(_table_cleaner().clean(html)) if html else ""


def _written(text: str, code: list[Markup], mark: str) -> str:
    """The text as HTML in which marks stand for blocks of code. Those are escaped, and cleaning long ones takes long."""
    import mistune

    class Renderer(mistune.HTMLRenderer):
        """Headings stand below those of the page, images of elsewhere are named, and a link says its host."""

        def heading(self, text: str, level: int, **attrs: Any) -> str:
            level = min(level + 2, _DEEPEST_HEADING)
            return f"<h{level}>{text}</h{level}>\n"

        def block_code(self, code_text: str, info: str | None = None) -> str:
            code.append(escape(code_text))
            return f"<pre>{mark}-{len(code) - 1}</pre>\n"

        def image(self, text: str, url: str, title: str | None = None) -> str:
            # The words are escaped already.
            return f"<em>[{text or 'image'}]</em>"

        def link(self, text: str, url: str, title: str | None = None) -> str:
            host = _host(url)
            if not host:
                return text
            link = Markup('<a href="{}" rel="noopener noreferrer nofollow ugc">').format(url)
            # Words may name another place than the one they lead to.
            words = Markup(text).striptags().strip()  # noqa: S704 -- to look at alone
            told = "" if words in (url, host) else Markup(" <span>({})</span>").format(host)
            return f"{link}{text}</a>{told}"

    plugins = ["table", "strikethrough", "url"]
    return str(mistune.create_markdown(renderer=Renderer(escape=True), plugins=plugins)(text))


@lru_cache(1)
def _cleaner() -> Cleaner:
    return _made(_ELEMENTS, {"a": ["href", "rel"], "th": _span_attribute, "td": _span_attribute})


@lru_cache(1)
def _table_cleaner() -> Cleaner:
    return _made(_TABLE, {"th": _span_attribute, "td": _span_attribute})


def _made(elements: frozenset[str], attributes: dict[str, object]) -> Cleaner:
    from bleach.sanitizer import Cleaner

    return Cleaner(
        tags=elements, attributes=attributes, protocols={"http", "https", "mailto"}, strip=True, strip_comments=True
    )


def _span_attribute(element: str, name: str, value: str) -> bool:
    return name in _CELL_SPANS and _NUMBER.fullmatch(value) is not None


def _host(url: str) -> str:
    """Where a link leads; empty for one that is not to be followed, as one within the hub would be."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    if parts.scheme == "mailto":
        return parts.path
    # A name before the host is there to deceive.
    is_plain = parts.scheme in ("http", "https") and "@" not in parts.netloc
    return (parts.hostname or "") if is_plain else ""


if __name__ == "__main__":
    sys.exit(main())
