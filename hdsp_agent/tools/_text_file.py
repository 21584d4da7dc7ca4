"""A text file as edits see it: one kind of line end, whatever it has on disk, and back to exactly that."""

from __future__ import annotations

import codecs
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from ._tool_failed import ToolFailed

__all__ = ["MOST_EDITED_BYTES", "Edit", "TextFile", "decode_window", "looks_binary", "text_encoding"]

MOST_EDITED_BYTES: Final = 10 * 1024 * 1024
_SNIFFED_BYTES: Final = 8192
_NOT_WESTERN: Final = re.compile(rb"[\x80-\xff]{2}|[\x81-\x84\x86-\x9f]")
_NOT_IN_CP1252: Final = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
_GUESSED: Final = (
    "cp949", "cp932", "euc_jp", "gb18030", "big5", "cp1251", "koi8_r", "cp1252", "cp1250", "cp1253", "cp1254", "cp1255", "cp1256",
)  # fmt: skip
_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True)
class Edit:
    """Replaces a stretch of a file's ``text``."""

    start: int
    end: int
    new: str


@dataclass(frozen=True)
class TextFile:
    """A decoded file. ``raw`` has the line ends of the disk."""

    raw: str
    encoding: str = "utf-8"
    bom: bytes = b""

    @classmethod
    def decode(cls, data: bytes, shown: str) -> TextFile:
        """Read the bytes as text. Raises ToolFailed for a binary file."""
        bom, encoding = text_encoding(data)
        if not bom and looks_binary(data):
            raise ToolFailed(f"{shown} is a binary file and is not edited as text.")
        try:
            return cls(data[len(bom) :].decode(encoding), encoding, bom)
        except UnicodeError:
            raise ToolFailed(
                f"{shown} is not valid {encoding} text, though it begins like it. It was left alone."
            ) from None

    @cached_property
    def text(self) -> str:
        """The text with plain newlines."""
        return self.raw.replace("\r\n", "\n")

    @cached_property
    def newline(self) -> str:
        """The line end most lines have."""
        windows = self.raw.count("\r\n")
        return "\r\n" if windows and windows * 2 > self.raw.count("\n") else "\n"

    def with_edits(self, edits: Sequence[Edit]) -> TextFile:
        """The file after edits that do not overlap; lines they do not touch keep their ends."""
        raw = self.raw
        for edit in sorted(edits, key=lambda each: each.start, reverse=True):
            new = edit.new.replace("\r\n", "\n").replace("\n", self.newline)
            raw = raw[: self._raw_offset(edit.start)] + new + raw[self._raw_offset(edit.end) :]
        return TextFile(raw, self.encoding, self.bom)

    def with_text(self, text: str) -> TextFile:
        """The file with another text, in its encoding and with its line ends."""
        return TextFile(text.replace("\r\n", "\n").replace("\n", self.newline), self.encoding, self.bom)

    def become(self, text: str) -> TextFile:
        """The file with another text; lines in front of what differs and behind it keep their ends."""
        text = text.replace("\r\n", "\n")
        start = _same_at_start(self.text, text)
        same = _same_at_start(self.text[start:][::-1], text[start:][::-1])
        return self.with_edits([Edit(start, len(self.text) - same, text[start : len(text) - same])])

    def encode(self, shown: str) -> bytes:
        """The bytes to write. Raises ToolFailed for a character the file's encoding does not have."""
        try:
            return self.bom + self.raw.encode(self.encoding)
        except UnicodeEncodeError as error:
            raise ToolFailed(
                f"{shown} is {self.encoding} text, which has no {error.object[error.start]!r}. "
                "Leave such characters out, or convert the file to UTF-8 first."
            ) from None

    @cached_property
    def _folded(self) -> list[int]:
        """The places in ``text`` of newlines that are two characters on disk."""
        return [found.start() - index for index, found in enumerate(re.finditer("\r\n", self.raw))]

    def _raw_offset(self, offset: int) -> int:
        return offset + bisect_left(self._folded, offset)


def _same_at_start(one: str, other: str) -> int:
    differ = (at for at, (mine, theirs) in enumerate(zip(one, other, strict=False)) if mine != theirs)
    return next(differ, min(len(one), len(other)))


def text_encoding(data: bytes) -> tuple[bytes, str]:
    """The byte order mark of a text and its encoding, as far as can be told from these bytes."""
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return bom, encoding
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)
        return b"", "utf-8"
    except UnicodeDecodeError:
        return b"", _guessed(data)


def looks_binary(data: bytes) -> bool:
    """Whether this is no text: it has NUL bytes, or many control characters, near its beginning."""
    start = data[:_SNIFFED_BYTES]
    controls = sum(start.count(value) for value in (*range(1, 7), *range(14, 27), 28, 29, 30, 31, 127))
    return b"\0" in start or controls * 10 > len(start) > 0


def decode_window(data: bytes, encoding: str) -> str:
    """A part of a file as text for reading, whatever a cut at its ends did."""
    return data.decode(encoding, "replace")


def _guessed(data: bytes) -> str:
    sample = data[: 1 << 18]
    if _NOT_WESTERN.search(sample) is None:
        # Single letters with accents between others: too little for statistics, which take them for Arabic or Chinese.
        return "cp1252" if not _NOT_IN_CP1252.search(data) else "latin-1"
    from charset_normalizer import from_bytes

    best = from_bytes(sample, cp_isolation=list(_GUESSED)).best()
    return best.encoding if best is not None else "latin-1"
