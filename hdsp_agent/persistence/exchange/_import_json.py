"""Reading other programs' JSON files piece by piece: what can be read is, and what cannot is said, wherever the damage is.

Everything here blocks.
"""

from __future__ import annotations

import codecs
import json
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final, Literal

from pydantic import JsonValue

from ...append_log.gzip_logs import open_gzip
from ...messages import JsonObject

__all__ = ["ImportFinding", "ImportFindings", "Weight", "is_ordinary_file", "list_records", "members", "read_object"]

Weight = Literal["problem", "note"]
"""A problem costs something of the conversation; a note says what was brought in another form."""

_BLOCK: Final = 256 * 1024
_LARGEST_VALUE: Final = 256 * 1024 * 1024
_LARGEST_OBJECT: Final = 64 * 1024 * 1024
_MOST_STARTS: Final = 20_000
_MOST_FINDINGS: Final = 200
_NEAR_THE_END: Final = 16
_START: Final = re.compile(r"[,\[]\s*(?=\{)")
_BLANK: Final = re.compile(r"[\s,]*")
_DECODER: Final = json.JSONDecoder(parse_constant=lambda name: None, strict=False)


@dataclass(frozen=True)
class ImportFinding:
    """What was wrong with a file, or done about it; ``count`` says how often, ``place`` where first."""

    path: Path
    reason: str
    weight: Weight = "problem"
    count: int = 1
    place: str | None = None


@dataclass
class ImportFindings:
    """What was found in the files of one task, the same thing once each."""

    _found: dict[tuple[Path, str], ImportFinding] = field(default_factory=dict)

    def add(self, path: Path, reason: str, *, weight: Weight = "problem", place: str | None = None) -> None:
        """Note down what was found."""
        known = self._found.get((path, reason))
        if known is not None:
            self._found[path, reason] = ImportFinding(path, reason, weight, known.count + 1, known.place)
        elif len(self._found) < _MOST_FINDINGS:
            self._found[path, reason] = ImportFinding(path, reason, weight, 1, place)

    def all(self) -> list[ImportFinding]:
        """What was found, in the order it was."""
        return list(self._found.values())


class _Torn(Exception):
    """The file ends before the value does."""


class _Bad(Exception):
    """What stands here is no JSON."""


class _Scanner:
    """The values of a JSON text one after the other; what was read is forgotten."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
        self._text = ""
        self._at = 0
        self._before = 0
        self._ended = False

    @property
    def place(self) -> str:
        """Where the reading is, for people."""
        return f"character {self._before + self._at + 1:,}"

    def peek(self) -> str:
        """The next character that is neither blank nor a comma; empty at the end."""
        while True:
            found = _BLANK.match(self._text, self._at)
            self._at = self._at if found is None else found.end()
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more(_BLOCK):
                return ""

    def skip(self) -> None:
        """Pass over one character."""
        self._at += 1

    def value(self) -> JsonValue:
        """The value that begins here."""
        self.peek()
        block = _BLOCK
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                unfinished = error.msg.startswith("Unterminated") or error.pos >= len(self._text) - _NEAR_THE_END
                if not unfinished or len(self._text) - self._at > _LARGEST_VALUE:
                    raise _Bad from None
                if not self._more(block):
                    raise _Torn from None
            except (ValueError, RecursionError):
                raise _Bad from None
            else:
                if end < len(self._text) or not self._more(block):
                    self._at = end
                    return value  # type: ignore[no-any-return]  # what JSON can say is a JsonValue
            block *= 2

    def resume(self, is_record: Callable[[JsonValue], bool]) -> bool:
        """Go on at the next record after one that could not be read."""
        self._at += 1
        for _ in range(_MOST_STARTS):
            while (found := _START.search(self._text, self._at)) is None:
                if not self._more(_BLOCK):
                    return False
            self._at = start = found.end()
            base = self._before
            try:
                value = self.value()
            except (_Bad, _Torn):
                self._at = start - (self._before - base) + 1
                continue
            self._at = start - (self._before - base) + (0 if is_record(value) else 1)
            if is_record(value):
                return True
        return False

    def _more(self, size: int) -> bool:
        """Read on; False at the end of the file."""
        if self._ended:
            return False
        data = self._file.read(size)
        self._ended = not data
        # What was read is dropped; resuming steps back over one character at most.
        dropped = max(0, self._at - 1)
        self._before += dropped
        self._text = self._text[dropped:] + self._decoder.decode(data, final=not data)
        self._at -= dropped
        return bool(data)


def members(
    path: Path,
    findings: ImportFindings,
    *,
    is_record: Callable[[JsonValue], bool] = lambda value: isinstance(value, dict),
) -> Iterator[tuple[str, JsonValue]]:
    """The elements of a file's list, under the name ``""``, or the members of its object, those of a list one by one.

    A list's element that is damaged is passed over; what follows the tear of a torn file is not there.
    """
    try:
        with _opened(path) as file:
            yield from _members(_Scanner(file), path, findings, is_record)
    except (OSError, EOFError) as error:
        findings.add(path, f"It cannot be read: {getattr(error, 'strerror', None) or error}.")


def list_records(
    path: Path,
    findings: ImportFindings,
    *,
    is_record: Callable[[JsonValue], bool] = lambda value: isinstance(value, dict),
) -> Iterator[JsonObject]:
    """The objects of the list that a file holds."""
    for name, value in members(path, findings, is_record=is_record):
        if name:
            findings.add(path, "It contains an object where a list of messages is expected.")
            return
        if isinstance(value, dict):
            yield value
        else:
            findings.add(path, "An entry is not a message and was left out.")


def read_object(path: Path, findings: ImportFindings) -> JsonObject | None:
    """The object a small file holds; None if there is no such file or none can be read."""
    if not is_ordinary_file(path):
        return None
    try:
        with _opened(path) as file:
            data = file.read(_LARGEST_OBJECT + 1)
        value = None if len(data) > _LARGEST_OBJECT else _DECODER.decode(data.decode("utf-8-sig", "replace"))
    except (OSError, EOFError) as error:
        findings.add(path, f"It cannot be read: {getattr(error, 'strerror', None) or error}.")
        return None
    except (ValueError, RecursionError):
        findings.add(path, "It is not valid JSON and was left out.")
        return None
    if not isinstance(value, dict):
        findings.add(path, "It does not contain the expected object and was left out.")
        return None
    return value


def is_ordinary_file(path: Path) -> bool:
    """Whether this is a file to read: a pipe or a device is not, nor a link, which may lead to what nobody meant to bring."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except (OSError, ValueError):
        return False


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    # Not to wait for whoever may write into a pipe that took the file's place.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(path, flags)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError("it is not an ordinary file")
        if path.suffix == ".gz":
            with open_gzip(file) as unpacked:
                try:
                    yield unpacked
                except (EOFError, zlib.error) as error:
                    raise OSError(f"the compressed file is damaged ({error})") from error
        else:
            yield file


def _members(
    scanner: _Scanner, path: Path, findings: ImportFindings, is_record: Callable[[JsonValue], bool]
) -> Iterator[tuple[str, JsonValue]]:
    match scanner.peek():
        case "[":
            scanner.skip()
            for value in _elements(scanner, path, findings, is_record):
                yield "", value
        case "{":
            scanner.skip()
            yield from _object(scanner, path, findings, is_record)
        case "":
            findings.add(path, "It is empty.")
        case _:
            findings.add(path, "It is not JSON.")


def _object(
    scanner: _Scanner, path: Path, findings: ImportFindings, is_record: Callable[[JsonValue], bool]
) -> Iterator[tuple[str, JsonValue]]:
    try:
        while (next_ := scanner.peek()) != "}":
            if not next_:
                raise _Torn
            name = scanner.value()
            if scanner.peek() != ":" or not isinstance(name, str):
                raise _Bad
            scanner.skip()
            if scanner.peek() != "[":
                yield name, scanner.value()
                continue
            scanner.skip()
            for value in _elements(scanner, path, findings, is_record):
                yield name, value
    except _Torn:
        findings.add(path, "It ends in the middle; what came before was read.", place=scanner.place)
    except _Bad:
        findings.add(path, "It is damaged; what came before was read.", place=scanner.place)


def _elements(
    scanner: _Scanner, path: Path, findings: ImportFindings, is_record: Callable[[JsonValue], bool]
) -> Iterator[JsonValue]:
    while (next_ := scanner.peek()) != "]":
        place = scanner.place
        try:
            if not next_:
                raise _Torn
            value = scanner.value()
        except _Torn:
            findings.add(path, "It ends in the middle; what came before was read.", place=place)
            return
        except _Bad:
            findings.add(path, "A message is damaged and was left out.", place=place)
            if not scanner.resume(is_record):
                findings.add(path, "No message was found after a damaged one.", place=place)
                return
            continue
        yield value
    scanner.skip()
