"""Long outputs and images of a task, kept once each under the sha256 of their bytes. Everything here blocks."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from ..._private_files import make_private_folder, replace_file, storage_error
from ...errors import InvalidInput, NotFound
from ._task_folders import ARTIFACTS

__all__ = [
    "ARTIFACT_NAME",
    "MAX_ARTIFACT_BYTES",
    "Artifacts",
    "check_artifact_name",
    "check_artifact_size",
    "unknown_artifact",
]

MAX_ARTIFACT_BYTES: Final = 100 * 1024 * 1024
MAX_ARTIFACTS_BYTES: Final = 2 * 1024 * 1024 * 1024
ARTIFACT_NAME: Final = re.compile(r"[0-9a-f]{64}")


def check_artifact_name(name: str) -> None:
    """Raise ``InvalidInput`` for what cannot be the name of an artifact."""
    if not ARTIFACT_NAME.fullmatch(name):
        raise InvalidInput(f"{name!r} is not the name of an artifact: that is a sha256 in hex.", field="name")


def check_artifact_size(
    size: int, total: int, *, most: int = MAX_ARTIFACT_BYTES, most_in_all: int = MAX_ARTIFACTS_BYTES
) -> None:
    """Raise ``InvalidInput`` for one of this size that is too large for a task that keeps so many bytes already."""
    if size > most or total + size > most_in_all:
        raise InvalidInput(
            f"An output of {size:,} bytes is more than this task can store ({most:,} bytes each, "
            f"{most_in_all:,} in all). Write it to a file of the workspace instead.",
            size=size,
        )


def unknown_artifact(name: str) -> NotFound:
    """The error that says that a task keeps nothing under this name."""
    return NotFound(f"This task has no artifact {name}. It may have been cleaned up.", name=name)


class Artifacts:
    """The artifacts of one task; ``folder`` says where the task is just now."""

    def __init__(
        self,
        folder: Callable[[], Path],
        *,
        max_bytes: int = MAX_ARTIFACT_BYTES,
        max_total_bytes: int = MAX_ARTIFACTS_BYTES,
    ) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._max_total_bytes = max_total_bytes
        self._total: int | None = None

    def put(self, data: bytes) -> str:
        """Keep the bytes and return their name."""
        folder = self._folder() / ARTIFACTS
        make_private_folder(folder)
        name = hashlib.sha256(data).hexdigest()
        path = folder / name
        if path.is_file():
            return name
        if self._total is None:
            self._total = sum(file.stat().st_size for file in folder.iterdir() if ARTIFACT_NAME.fullmatch(file.name))
        check_artifact_size(len(data), self._total, most=self._max_bytes, most_in_all=self._max_total_bytes)
        replace_file(path, data)
        self._total += len(data)
        return name

    def read(self, name: str) -> bytes:
        """The bytes kept under this name. Raises ``NotFound``."""
        check_artifact_name(name)
        while True:
            folder = self._folder()
            path = folder / ARTIFACTS / name
            try:
                return path.read_bytes()
            except FileNotFoundError:
                # Where the task moved meanwhile, it is looked for there.
                if folder.is_dir():
                    raise unknown_artifact(name) from None
            except OSError as error:
                raise storage_error(path, "read", error) from error
