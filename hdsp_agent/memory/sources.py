"""Which conversations a line was learned from: a code of four characters in brackets at its end, as in ``[3fQa]``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from .extracted_files import Extracted, short_id

__all__ = ["codes_in", "is_item", "named_codes", "sources_by_code", "unsourced", "without_sources"]

_CODES: Final = re.compile(r"\[((?:[0-9A-Za-z]{4})(?:[,;]?\s+[0-9A-Za-z]{4})*)\]")
_CODE: Final = re.compile(r"[0-9A-Za-z]{4}")
_ITEM: Final = re.compile(r"\s*(?:[-*+]|\d+\.)\s+\S")
_HEADING: Final = re.compile(r"(#+)\s")


def sources_by_code(extracted: Iterable[Extracted]) -> dict[str, Extracted]:
    """Conversations by the codes they are named by."""
    return {short_id(each.task_id): each for each in extracted}


def codes_in(line: str, known: frozenset[str]) -> list[str]:
    """The codes a line ends with, or holds, of those that are known."""
    found = (code for group in _CODES.finditer(line) for code in _CODE.findall(group[1]))
    return list(dict.fromkeys(code for code in found if code in known))


def named_codes(text: str) -> frozenset[str]:
    """All that may be codes in a text, whether a conversation bears them or not."""
    return frozenset(code for group in _CODES.finditer(text) for code in _CODE.findall(group[1]))


def is_item(line: str) -> bool:
    """Whether a line is one of a list."""
    return _ITEM.match(line) is not None


def unsourced(text: str, headings: frozenset[str], known: frozenset[str]) -> Iterator[str]:
    """The items under these headings that name no known source."""
    is_under = False
    for line in text.split("\n"):
        if _HEADING.match(line):
            is_under = line.strip() in headings
        elif is_under and is_item(line) and not line[0].isspace() and not codes_in(line, known):
            yield line.strip()


def without_sources(text: str, gone: frozenset[str], known: frozenset[str]) -> str:
    """The text without what was learned from the conversations that are gone alone; ``known`` are all that there were.

    A section goes with all that stands below it when nothing but lines without a source is left of its items.
    """
    kept: list[str] = []
    dropped = False
    for line in text.split("\n"):
        codes = codes_in(line, known)
        if codes and gone.issuperset(codes):
            dropped = True
            continue
        kept.append(_without_codes(line, gone) if codes else line)
    return "\n".join(_without_empty_sections(kept, text)) if dropped else "\n".join(kept)


def _without_codes(line: str, gone: frozenset[str]) -> str:
    def left(found: re.Match[str]) -> str:
        codes = [code for code in _CODE.findall(found[1]) if code not in gone]
        return f"[{', '.join(codes)}]" if codes else ""

    return _CODES.sub(left, line)


def _without_empty_sections(lines: list[str], before: str) -> list[str]:
    """Without the task sections that had items and have none now."""
    had = dict(_items_by_section(before.split("\n")))
    has = dict(_items_by_section(lines))
    empty = {heading for heading, count in had.items() if count and not has.get(heading)}
    kept: list[str] = []
    skipped: int | None = None
    for line in lines:
        level = _HEADING.match(line)
        if level is not None and (skipped is None or len(level[1]) <= skipped):
            skipped = len(level[1]) if line.strip() in empty and len(level[1]) <= 2 and _is_task(line) else None
        if skipped is None:
            kept.append(line)
    return kept


def _items_by_section(lines: list[str]) -> Iterator[tuple[str, int]]:
    """Each heading, and how many items stand below it, those of deeper headings included."""
    open_sections: list[tuple[int, str, int]] = []
    for line in [*lines, "# "]:
        level = _HEADING.match(line)
        if level is None:
            if is_item(line):
                open_sections = [(depth, heading, count + 1) for depth, heading, count in open_sections]
            continue
        while open_sections and open_sections[-1][0] >= len(level[1]):
            _, heading, count = open_sections.pop()
            yield heading, count
        open_sections.append((len(level[1]), line.strip(), 0))


def _is_task(line: str) -> bool:
    return line.startswith(("# Task Group:", "## Task "))
