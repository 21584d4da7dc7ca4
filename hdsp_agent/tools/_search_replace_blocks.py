"""The SEARCH/REPLACE blocks in which models describe edits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from ._tool_failed import ToolFailed

__all__ = ["Block", "parse_blocks"]

_SEARCH: Final = re.compile(r"<{7,} ?SEARCH>?\s*")
_DIVIDER: Final = re.compile(r"={7,}\s*")
_REPLACE: Final = re.compile(r">{7,} ?REPLACE\s*")
_START_LINE: Final = re.compile(r":start_line:\s*(\d+)\s*")
_END_LINE: Final = re.compile(r":end_line:\s*\d+\s*")
_RULE: Final = re.compile(r"-{7,}\s*")
_ESCAPED: Final = re.compile(r"^\\(?=<{7,}|={7,}|>{7,}|-{7,}|:start_line:|:end_line:)")
_FORM: Final = """A block has this form:
<<<<<<< SEARCH
:start_line:12
-------
lines as they are
=======
lines as they shall be
>>>>>>> REPLACE"""


@dataclass(frozen=True)
class Block:
    """Lines to search for and those to put in their place."""

    number: int
    search: str
    replace: tuple[str, ...]
    """Line by line: no line at all deletes, an empty line stays one."""
    start_line: int | None


def parse_blocks(diff: str) -> list[Block]:
    """The blocks of a diff. Raises ToolFailed that says which line of it is wrong."""
    parser = _Parser()
    for number, line in enumerate(diff.replace("\r\n", "\n").split("\n"), 1):
        parser.read(number, line)
    return parser.finish()


class _Parser:
    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._where: Literal["outside", "head", "search", "replace"] = "outside"
        self._start_line: int | None = None
        self._search: list[str] = []
        self._replacement: list[str] = []

    def read(self, number: int, line: str) -> None:
        if self._where != "outside" and _SEARCH.fullmatch(line):
            raise _wrong(number, line, "begins a block before the one above is complete")
        if self._where == "head" and self._read_head(line):
            return
        match self._where:
            case "outside":
                self._read_outside(number, line)
            case "head" | "search":
                self._read_search(number, line)
            case "replace":
                self._read_replacement(number, line)

    def finish(self) -> list[Block]:
        if self._where != "outside":
            raise ToolFailed(f"The last block of the diff is not complete: >>>>>>> REPLACE is missing. {_FORM}")
        if not self._blocks:
            raise ToolFailed(f"The diff has no SEARCH/REPLACE block. {_FORM}")
        return self._blocks

    def _read_outside(self, number: int, line: str) -> None:
        if _SEARCH.fullmatch(line):
            self._where, self._start_line, self._search, self._replacement = "head", None, [], []
        elif _DIVIDER.fullmatch(line) or _REPLACE.fullmatch(line):
            raise _wrong(number, line, "stands before any <<<<<<< SEARCH")

    def _read_head(self, line: str) -> bool:
        """Whether the line belongs to what may stand before the lines to search for."""
        if found := _START_LINE.fullmatch(line):
            self._start_line = int(found[1]) or None
        elif _RULE.fullmatch(line):
            self._where = "search"
        elif not _END_LINE.fullmatch(line):
            return False
        return True

    def _read_search(self, number: int, line: str) -> None:
        self._where = "search"
        if _REPLACE.fullmatch(line):
            raise _wrong(number, line, "ends a block that has no =======")
        if _DIVIDER.fullmatch(line):
            self._where = "replace"
        else:
            self._search.append(_ESCAPED.sub("", line))

    def _read_replacement(self, number: int, line: str) -> None:
        if _REPLACE.fullmatch(line):
            search = "\n".join(self._search)
            self._blocks.append(Block(len(self._blocks) + 1, search, tuple(self._replacement), self._start_line))
            self._where = "outside"
        elif _DIVIDER.fullmatch(line):
            raise _wrong(number, line, "is a second divider; if it belongs to the file, write a backslash before it")
        else:
            self._replacement.append(_ESCAPED.sub("", line))


def _wrong(number: int, line: str, why: str) -> ToolFailed:
    return ToolFailed(f"Line {number} of the diff, {line.strip()!r}, {why}. {_FORM}")
