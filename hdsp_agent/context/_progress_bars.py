"""What a program wrote over and over: only how it ended stays."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["last_written"]

# tqdm's "45%|████▌     |", bars of plain characters such as "[=====>....]", and pip's.
_BAR: Final = re.compile(r"\d%\s*\||\[[=>#.\-█ ]{8,}\]|[█▉▊▋▌▍▎▏━╸╺]{4,}")
_NUMBERS: Final = re.compile(r"\d{1,3}(?:\.\d+)?\s?%|\b\d+(?:\.\d+)?\s?[kMGT]?i?B?\s?/\s?\d+(?:\.\d+)?\s?[kMGT]?i?B?\b")
_DESCRIPTION: Final = re.compile(r"[^\d\[|█=#━]*")
_REPEATED: Final = 3


def last_written(text: str) -> str:
    """The text as a terminal would show it, with each progress bar once and equal lines in a row once."""
    lines = text.replace("\r\n", "\n").split("\n")
    if "\r" in text:
        lines = [line.rstrip("\r").rpartition("\r")[2] for line in lines]
    return "\n".join(_each_once(_bars_once(lines)))


def _bars_once(lines: list[str]) -> list[str]:
    kept: list[str] = []
    bars: dict[str, str] = {}
    for line in lines:
        if _is_bar(line):
            found = _DESCRIPTION.match(line)
            # A later state of a bar stands where the first was.
            bars[found[0].strip() if found else ""] = line
            continue
        # Bars that are drawn below one another have blank lines between them.
        if bars and not line.strip():
            continue
        kept += bars.values()
        bars = {}
        kept.append(line)
    return kept + list(bars.values())


def _is_bar(line: str) -> bool:
    return len(line) < 1_000 and _BAR.search(line) is not None and _NUMBERS.search(line) is not None


def _each_once(lines: list[str]) -> list[str]:
    kept: list[str] = []
    place = 0
    while place < len(lines):
        end = place
        while end < len(lines) and lines[end] == lines[place]:
            end += 1
        if end - place < _REPEATED or not lines[place].strip():
            kept += lines[place:end]
        else:
            kept += [lines[place], f"[the line above {end - place} times]"]
        place = end
    return kept
