"""Lines of a log that cannot be read: their bytes are kept beside it, and people are told."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .._iso_time import iso_time
from .._private_open import open_private

__all__ = ["CorruptLine", "Damage", "keep_aside", "kept_aside"]

Damage = Literal["torn", "corrupt", "unknown"]
"""``torn``: a crash left half of it. ``corrupt``: it is not what was written. ``unknown``: a form this version cannot read."""


@dataclass(frozen=True)
class CorruptLine:
    """A line that no record could be made of."""

    offset: int
    data: bytes
    damage: Damage


def keep_aside(log: Path, lines: Iterable[CorruptLine]) -> list[CorruptLine]:
    """Copy the lines' bytes to ``<log>.corrupt`` unless they are there already; returns those that are new."""
    known = {(line.offset, line.data) for line in kept_aside(log)}
    fresh = [line for line in lines if (line.offset, line.data) not in known]
    if not fresh:
        return []
    descriptor = open_private(_aside(log), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        rest = memoryview(b"".join(_entry(line) for line in fresh))
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return fresh


def kept_aside(log: Path) -> list[CorruptLine]:
    """What was kept aside of this log so far."""
    try:
        entries = _aside(log).read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    lines: list[CorruptLine] = []
    for entry in entries:
        try:
            read = json.loads(entry)
            lines.append(CorruptLine(read["offset"], base64.b64decode(read["base64"]), read["damage"]))
        except (ValueError, KeyError, TypeError):
            # Half an entry of a crash: its line is still in the log and will be copied again.
            continue
    return lines


def _aside(log: Path) -> Path:
    return log.with_name(log.name + ".corrupt")


def _entry(line: CorruptLine) -> bytes:
    entry = {
        "offset": line.offset,
        "damage": line.damage,
        "found_at": iso_time(),
        "text": line.data[:2000].decode("utf-8", "replace"),
        "base64": base64.b64encode(line.data).decode("ascii"),
    }
    # The entry begins on a line of its own even if a crash left half of the one before.
    return b"\n" + json.dumps(entry, ensure_ascii=False).encode() + b"\n"
