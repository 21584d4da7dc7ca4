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

__all__ = ["MAX_ARTIFACTS_BYTES", "MAX_ARTIFACT_BYTES", "Artifacts"]

MAX_ARTIFACT_BYTES: Final = 100 * 1024 * 1024
MAX_ARTIFACTS_BYTES: Final = 2 * 1024 * 1024 * 1024
_NAME: Final = re.compile(r"[0-9a-f]{64}")


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
            self._total = sum(file.stat().st_size for file in folder.iterdir() if _NAME.fullmatch(file.name))
        if len(data) > self._max_bytes or self._total + len(data) > self._max_total_bytes:
            raise InvalidInput(
                f"An output of {len(data):,} bytes is more than this task may keep ({self._max_bytes:,} bytes each, "
                f"{self._max_total_bytes:,} in all). Write it to a file of the workspace instead.",
                size=len(data),
            )
        replace_file(path, data)
        self._total += len(data)
        return name

    def read(self, name: str) -> bytes:
        """The bytes kept under this name. Raises ``NotFound``."""
        if not _NAME.fullmatch(name):
            raise InvalidInput(f"{name!r} is not the name of an artifact: that is a sha256 in hex.", field="name")
        path = self._folder() / ARTIFACTS / name
        try:
            return path.read_bytes()
        except FileNotFoundError:
            raise NotFound(f"This task has no artifact {name}. It may have been cleaned up.", name=name) from None
        except OSError as error:
            raise storage_error(path, "read", error) from error
