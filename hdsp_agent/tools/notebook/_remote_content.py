"""What a Markdown cell fetches as soon as JupyterLab shows it, and where its links lead.

An address is a way to send away what the model has read. A picture's is fetched without anybody's doing, a link's with one
click. JupyterLab's own parser decides what is a picture, and no second one agrees with it on every text. So nothing is
parsed here: each place where something may begin is looked at for itself, and what is not plainly harmless counts.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

__all__ = ["RemoteContent", "remote_content"]

_SCHEME: Final = re.compile(r"(?:https?|ftps?|wss?|file|blob|javascript|gopher|data)\s*:", re.IGNORECASE)
_SLASHES: Final = re.compile(r"[\\/]{2}")
_LINK: Final = re.compile(
    r"\b(?:[a-z][a-z0-9+.-]{1,20}://|www\.)[^\s<>\"'`)\]]*|\]\(\s*<?[\\/]{2}[^\s>)]*", re.IGNORECASE
)
_HARMLESS_ADDRESS: Final = ("attachment:", "data:image/")

_UNPLAIN_IN_ALT: Final = re.compile(r"[`\\<&\[]")
_DESTINATION: Final = re.compile(r"\(\s*(<[^>\n]*|[^\s)]*)")
_LABEL: Final = re.compile(r"\[([^\[\]\\`<&]*)\]")
_DEFINITION: Final = re.compile(r"(?:\[([^\[\]\\]*))?\]:\s*(<[^>\n]*|[^\s]*)")

_TAG: Final = re.compile(r"<([a-z][a-z0-9:._-]*)", re.IGNORECASE)
_AUTOLINK: Final = re.compile(r"<(?:[a-z][a-z0-9+.-]*:[^\s<>]*|[^\s<>@]+@[^\s<>]+)>", re.IGNORECASE)
_ATTRIBUTE: Final = r"""\s+([a-z_][a-z0-9:._-]*)(?:\s*=\s*("[^"<>&\\]*"|'[^'<>&\\]*'|[^\s"'<>=`&\\]+))?"""
_PLAIN_TAG: Final = re.compile(rf"<[a-z][a-z0-9-]*(?:{_ATTRIBUTE})*\s*/?>", re.IGNORECASE)
_ATTRIBUTES: Final = re.compile(_ATTRIBUTE, re.IGNORECASE)
_MAY_FETCH: Final = frozenset(
    {
        "applet", "area", "audio", "base", "body", "bgsound", "button", "canvas", "embed", "fencedframe", "form", "frame",
        "frameset", "iframe", "image", "img", "input", "isindex", "link", "map", "math", "meta", "noscript", "object",
        "param", "picture", "portal", "script", "source", "style", "svg", "template", "track", "use", "video",
    }
)  # fmt: skip
_LOOKED_AT: Final = frozenset({"img", "image", "input", "area", "map", "picture", "source", "video", "audio", "track"})
_NO_ADDRESS: Final = frozenset(
    {
        "align", "alt", "border", "cellpadding", "cellspacing", "class", "color", "colspan", "controls", "dir", "height",
        "id", "lang", "name", "open", "rowspan", "size", "span", "start", "summary", "target", "title", "type", "valign",
        "value", "width",
    }
)  # fmt: skip
_NAMES_AN_ADDRESS: Final = re.compile(
    r"\b(?:style|src|srcset|poster|background|data|href|action|formaction|ping|on[a-z]+)\s*=", re.IGNORECASE
)
_FETCHING_STYLE: Final = re.compile(r"[\\&@]|url|image|src|element|expression|paint", re.IGNORECASE)

_FENCE_LINE: Final = re.compile(r"(?:`{3}|~{3}|:{3})[^\n\r]*")
_FENCE: Final = re.compile(r"`{3,}|~{3,}|:{3,}")
_DIRECTIVE: Final = re.compile(r"[`~:]{3}\s*\{")
_DIAGRAM: Final = re.compile(r"mermaid", re.IGNORECASE)
_MOST_DIAGRAMS: Final = 20
"""Those after so many are looked at as one: each may go on to the end of the text."""
_DIAGRAM_ENTITY: Final = re.compile(r"#(\w{1,12});")
_DIAGRAM_FETCHES: Final = re.compile(r"[\\/]{2}|\\[0-9a-fux/]|\burl\b|@import|image-set", re.IGNORECASE)
_STYLED_MATHS: Final = re.compile(
    r"\\(?:style|bbox|includegraphics|img|mmlToken|require|html[A-Z]?\w*|class|cssId|data)\b"
)


@dataclass(frozen=True)
class RemoteContent:
    """What one text of Markdown would have a browser do."""

    fetched: frozenset[str] = frozenset()
    """What is fetched, or may be, when the text is shown; by its own words."""
    links: frozenset[str] = frozenset()
    """Where a click leads."""

    def beyond(self, before: RemoteContent) -> RemoteContent:
        """What was not there before."""
        return RemoteContent(self.fetched - before.fetched, self.links - before.links)


def remote_content(text: str) -> RemoteContent:
    """What is fetched when this is shown as Markdown, and where it links to. Linear in its length."""
    links = frozenset(found[0] for found in _LINK.finditer(_decoded(text)))
    if not _hints_at_remote(text):
        return RemoteContent(frozenset(), links)
    return RemoteContent(
        frozenset((*_images(text), *_tags(text), *_diagrams(text), *_styled_maths(text))),
        links,
    )


def _decoded(text: str) -> str:
    """With character references and what a URL leaves out taken away: it may be given twice."""
    return re.sub(r"[\t\r\n\0]", "", html.unescape(html.unescape(text)))


def _hints_at_remote(text: str) -> bool:
    """Whether there can be an address of another host in it at all."""
    decoded = _decoded(text)
    bare = decoded.replace("\\", "")
    return any(_SLASHES.search(one) or _SCHEME.search(one) for one in (decoded, bare)) or _coded_in_a_diagram(text)


def _is_local(address: str) -> bool:
    plain = re.sub(r"\\([_*()\[\] ~-])", r"\1", _decoded(address.strip().removeprefix("<"))).strip()
    if plain.lower().startswith(_HARMLESS_ADDRESS):
        return True
    before_path = re.split(r"[/?#]", plain, maxsplit=1)[0]
    return ":" not in before_path and "\\" not in plain and not plain.startswith("//")


# ---- pictures


def _images(text: str) -> Iterator[str]:
    closings = [found.start() for found in re.finditer(r"\]", text)]
    unplain = [found.start() for found in _UNPLAIN_IN_ALT.finditer(text)]
    defined: frozenset[str | None] | None = None
    for found in re.finditer(r"!\[", text):
        begin = found.end()
        closing = _next(closings, begin)
        if closing is None:
            return
        special = _next(unplain, begin)
        if special is not None and special < closing:
            # Where it ends depends on what it holds.
            yield f"![…] in {text}"
            return
        after = text[closing + 1 : closing + 2]
        given = _DESTINATION.match(text, closing + 1) if after == "(" else None
        if given is not None and not _is_local(given[1]):
            yield f"![]({given[1]}"
        defined = _remote_labels(text) if defined is None else defined
        labels = {_label(text[begin:closing])}
        if after == "[":
            named = _LABEL.match(text, closing + 1)
            labels.add(_label(named[1]) if named is not None else None)
        if defined and (None in defined or None in labels or defined & labels):
            yield f"![{text[begin:closing]}] in {text}"


def _next(places: list[int], begin: int) -> int | None:
    at = bisect_left(places, begin)
    return places[at] if at < len(places) else None


def _remote_labels(text: str) -> frozenset[str | None]:
    """The labels that stand for an address of another host; None for one that is not plainly to be read."""
    return frozenset(
        None if found[1] is None else _label(found[1])
        for found in _DEFINITION.finditer(text)
        if not _is_local(found[2])
    )


def _label(text: str) -> str | None:
    return " ".join(text.split()).casefold()


# ---- HTML


def _tags(text: str) -> Iterator[str]:
    last_named = max((found.start() for found in _NAMES_AN_ADDRESS.finditer(text)), default=-1)
    for found in _TAG.finditer(text):
        if _AUTOLINK.match(text, found.start()):
            continue
        name = found[1].lower()
        plain = _PLAIN_TAG.match(text, found.start())
        if plain is None:
            if name in _MAY_FETCH or found.start() < last_named:
                yield f"<{name} in {text}"
                return
        elif (name in _MAY_FETCH and name not in _LOOKED_AT) or _fetches(name, plain[0]):
            yield plain[0] if name in _LOOKED_AT else f"<{name} in {text}"


def _fetches(name: str, tag: str) -> bool:
    for attribute, quoted in _ATTRIBUTES.findall(tag):
        key, value = attribute.lower(), quoted.strip("\"'")
        if key in _NO_ADDRESS or (key == "href" and name == "a"):
            continue
        if key == "style":
            if _FETCHING_STYLE.search(value):
                return True
        elif key.startswith("on") or not all(_is_local(one) for one in (value, *re.split(r"[\s,]+", value))):
            return True
    return False


# ---- diagrams and maths


def _diagrams(text: str) -> Iterator[str]:
    """Diagrams that JupyterLab draws in the page: all that is between a line that may be their fence and its end."""
    lines = (found for found in _FENCE_LINE.finditer(text) if _DIAGRAM.search(found[0]) or _DIRECTIVE.match(found[0]))
    looked_at = 0
    for count, found in enumerate(lines):
        line = found[0]
        if _DIRECTIVE.match(line):
            yield f"{line} in {text}"
            continue
        end = _end_of_fence(text, found) if count < _MOST_DIAGRAMS else len(text)
        if end > looked_at:
            looked_at = end
            body = text[found.start() : end]
            if _diagram_fetches(body):
                yield body
        if end == len(text):
            return


def _end_of_fence(text: str, line: re.Match[str]) -> int:
    fence = max(_FENCE.findall(line[0]), key=len)
    closing = re.compile(rf"^ {{0,3}}{fence[0]}{{{len(fence)},}}[ \t]*\r?$", re.MULTILINE)
    end = closing.search(text, line.end())
    return end.start() if end is not None else len(text)


def _diagram_fetches(body: str) -> bool:
    coded = html.unescape(_DIAGRAM_ENTITY.sub(_character, body))
    return any(_DIAGRAM_FETCHES.search(one) or _SCHEME.search(one) for one in (body, _decoded(coded)))


def _coded_in_a_diagram(text: str) -> bool:
    return _DIAGRAM.search(text) is not None and any(_diagrams(text))


def _character(found: re.Match[str]) -> str:
    name = found[1]
    return f"&#{name};" if name.isdigit() or re.fullmatch(r"x[0-9a-f]+", name, re.IGNORECASE) else f"&{name};"


def _styled_maths(text: str) -> Iterator[str]:
    if _STYLED_MATHS.search(text):
        yield f"maths in {text}"
