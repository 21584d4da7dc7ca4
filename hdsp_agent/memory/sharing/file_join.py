"""A memory file that was changed on two servers at once: what becomes of it, by what it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from pydantic import ValidationError

from ..extracted_files import Extracted
from ..memory_folder import EXTRACTED_FOLDER
from ..run_log import MemoryRun
from ..usage_counts import UsageOfKind, usage_of, usage_text
from .line_join import joined_text
from .shared_names import is_consolidated

__all__ = ["JOINED_ENDING", "JoinedFile", "counts_of", "joined_file"]

JOINED_ENDING: Final = ".md"
"""Of the files that are joined line by line."""

_USAGE: Final = "usage.json"
_RUNS: Final = "runs.jsonl"
_MOST_RUNS: Final = 1_000
_LONGEST: Final = 2_000_000


@dataclass(frozen=True)
class JoinedFile:
    """What the file says from now on. ``aside`` is what had to be kept apart; ``twice`` counts what it now says twice."""

    content: bytes | None
    aside: bytes | None = None
    twice: int = 0


def counts_of(name: str, content: bytes) -> dict[str, int]:
    """What a file counts, by what; nothing if it counts nothing."""
    if name == _USAGE:
        return {kind: usage.count for kind, usage in usage_of(content.decode("utf-8", "replace")).items()}
    if _is_extracted(name) and (found := _extracted(content)) is not None:
        return {"": found.usage_count}
    return {}


def joined_file(
    name: str,
    lines: Sequence[str],
    counts: Mapping[str, int],
    mine: bytes | None,
    theirs: bytes | None,
) -> JoinedFile:
    """Both versions in one, without losing anything. ``lines`` and ``counts`` are what is known of the one before them."""
    if is_consolidated(name):
        return JoinedFile(theirs)
    if _is_extracted(name):
        return JoinedFile(_joined_extracted(counts.get("", 0), mine, theirs))
    if name == _USAGE:
        return JoinedFile(_joined_usage(counts, mine or b"", theirs or b""))
    if name == _RUNS:
        return JoinedFile(_joined_runs(mine or b"", theirs or b""))
    if name.endswith(JOINED_ENDING):
        return _joined_lines(lines, mine or b"", theirs or b"")
    if mine is None or theirs is None:
        # Somebody changed it after all.
        return JoinedFile(theirs if mine is None else mine)
    return JoinedFile(theirs, aside=mine)


def _joined_lines(lines: Sequence[str], mine: bytes, theirs: bytes) -> JoinedFile:
    try:
        joined = joined_text(lines, mine.decode(), theirs.decode())
    except UnicodeDecodeError:
        return JoinedFile(theirs, aside=mine)
    content = joined.text.encode()
    if len(content) > _LONGEST:
        return JoinedFile(theirs, aside=mine)
    return JoinedFile(content if content.strip() else None, twice=joined.twice)


def _is_extracted(name: str) -> bool:
    return name.startswith(f"{EXTRACTED_FOLDER}/") and name.endswith(".json")


def _extracted(content: bytes | None) -> Extracted | None:
    with suppress(ValidationError):
        return None if content is None else Extracted.model_validate_json(content)
    return None


def _joined_extracted(counted: int, mine: bytes | None, theirs: bytes | None) -> bytes | None:
    """The later of two; one that is gone was forgotten, and one that is empty was, too."""
    if mine is None or theirs is None:
        return None
    here, there = _extracted(mine), _extracted(theirs)
    if here is None or there is None:
        return theirs if here is None else mine
    later = max((there, here), key=lambda each: (each.source_updated_at, each.is_empty, each.generated_at))
    if later.is_empty:
        return later.to_json().encode()
    used = there.usage_count + max(0, here.usage_count - counted)
    last = max((each.last_usage for each in (here, there) if each.last_usage is not None), default=None)
    return later.model_copy(update={"usage_count": used, "last_usage": last}).to_json().encode()


def _joined_usage(counted: Mapping[str, int], mine: bytes, theirs: bytes) -> bytes:
    here, there = usage_of(mine.decode("utf-8", "replace")), usage_of(theirs.decode("utf-8", "replace"))
    found = dict(there)
    for kind, usage in here.items():
        known = there.get(kind, UsageOfKind())
        more = max(0, usage.count - counted.get(kind, 0))
        last = max((at for at in (usage.last_at, known.last_at) if at is not None), default=None)
        found[kind] = UsageOfKind(count=known.count + more, last_at=last)
    return usage_text(found).encode()


def _joined_runs(mine: bytes, theirs: bytes) -> bytes:
    """The runs of both, each once, in the order in which they ended."""
    runs: dict[bytes, str] = {}
    for line in (*theirs.splitlines(), *mine.splitlines()):
        with suppress(ValidationError):
            runs[line] = MemoryRun.model_validate_json(line).ended_at
    newest = sorted(runs, key=lambda line: runs[line])[-_MOST_RUNS:]
    return b"".join(line + b"\n" for line in newest)
