"""What was learned from each conversation, one file each: the truth that tables, lists and summaries are made from.

A conversation that taught nothing has a file too, so that nobody reads it again. Everything here blocks.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from time import time
from typing import Annotated, Final

from pydantic import Field, ValidationError

from .._private_files import locked, make_private_folder
from ..messages import TaskId
from ..wire import WireModel
from .memory_folder import DAMAGED, EXTRACTED_FOLDER, MemoryFolder, extracted_name

__all__ = ["Extracted", "ExtractedFiles", "file_slug", "rollout_name", "short_id"]

logger = logging.getLogger(__name__)

_BASE62: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_LONGEST_SLUG: Final = 60
_LOCK_SECONDS: Final = 10.0


class Extracted(WireModel):
    """What one conversation taught. All three texts are empty if it taught nothing."""

    task_id: TaskId
    owner: str
    source_updated_at: Annotated[int, Field(ge=0)]
    """The time of the last message that was read, in milliseconds."""
    began_at: str
    """When the conversation began."""
    generated_at: str
    raw_memory: str = ""
    rollout_summary: str = ""
    rollout_slug: str | None = None
    workspace: str | None = None
    notebook: str | None = None
    usage_count: Annotated[int, Field(ge=0)] = 0
    last_usage: int | None = None
    """In milliseconds."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to learn from it."""
        return not self.raw_memory.strip() or not self.rollout_summary.strip()

    @property
    def used_or_updated_at(self) -> int:
        """When it was of use last, or else said."""
        return max(self.last_usage or 0, self.source_updated_at)


def rollout_name(extracted: Extracted) -> str:
    """The name of its summary's file, without the ending: when, which, and about what."""
    try:
        began = datetime.fromisoformat(extracted.began_at).astimezone(UTC)
    except ValueError:
        began = datetime.fromtimestamp(extracted.source_updated_at / 1000, tz=UTC)
    stem = f"{began:%Y-%m-%dT%H-%M-%S}-{short_id(extracted.task_id)}"
    slug = file_slug(extracted.rollout_slug or "")
    return f"{stem}-{slug}" if slug else stem


def file_slug(text: str) -> str:
    """A text as part of a file's name: lower case, all but letters and digits an underscore."""
    plain = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in text.lower())
    return plain[:_LONGEST_SLUG].rstrip("_")


def short_id(task_id: str) -> str:
    """Four characters that name a conversation among others."""
    digits = "".join(letter for letter in task_id if letter in "0123456789abcdefABCDEF")
    number = int(digits[-8:] or "0", 16) % len(_BASE62) ** 4
    short = ""
    for _ in range(4):
        number, digit = divmod(number, len(_BASE62))
        short = _BASE62[digit] + short
    return short


class ExtractedFiles:
    """The files of one person."""

    def __init__(self, folder: MemoryFolder) -> None:
        self._folder: Final = folder

    def all(self) -> Iterator[Extracted]:
        """Every file that can be read, in the order of the conversations' ids."""
        for name in self._folder.names(EXTRACTED_FOLDER):
            if name.endswith(".json") and (found := self._read(name)) is not None:
                yield found

    def get(self, task_id: TaskId) -> Extracted | None:
        """What this conversation taught; None if it was not read yet."""
        return self._read(extracted_name(task_id))

    def put(self, extracted: Extracted) -> None:
        """Keep it. Raises StorageUnavailable."""
        with self._alone():
            self._put(extracted)

    def count_use(self, task_id: TaskId) -> None:
        """It was of use once more, just now. Raises StorageUnavailable."""
        with self._alone():
            known = self.get(task_id)
            if known is not None and not known.is_empty:
                now = int(time() * 1000)
                self._put(known.model_copy(update={"usage_count": known.usage_count + 1, "last_usage": now}))

    def delete(self, task_id: TaskId) -> bool:
        """Forget what this conversation taught; whether there was anything. Raises StorageUnavailable."""
        if not (self._folder.root / EXTRACTED_FOLDER).is_dir():
            return False
        with self._alone():
            known = self.get(task_id)
            for name in (extracted_name(task_id), f"{extracted_name(task_id)}{DAMAGED}"):
                self._folder.remove(name)
        return known is not None and not known.is_empty

    def _put(self, extracted: Extracted) -> None:
        self._folder.write(extracted_name(extracted.task_id), extracted.to_json())

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Whoever counts a use writes what they read: nothing may be forgotten in between."""
        make_private_folder(self._folder.root)
        with locked(self._folder.root / EXTRACTED_FOLDER, _LOCK_SECONDS):
            yield

    def _read(self, name: str) -> Extracted | None:
        text = self._folder.text(name)
        if not text:
            return None
        try:
            return Extracted.model_validate_json(text)
        except ValidationError as error:
            logger.warning("%s is damaged and left out: %s", self._folder.root / name, error.errors()[0]["msg"])
            return None
