"""Whether a content in a pack and a large file beside the packs are the same. Everything here blocks.

Which of the two a content is kept as goes by the limits of the server that met it first, and limits change.
"""

from __future__ import annotations

import hashlib
import logging

from ...errors import StorageUnavailable
from .git_objects import LargeId, ObjectId, is_large
from .packs import Packs

__all__ = ["Contents"]

_logger = logging.getLogger(__name__)


class Contents:
    """The contents of one store. What had to be read to be compared is remembered, and read once."""

    def __init__(self, packs: Packs) -> None:
        self._packs = packs
        self._names: dict[ObjectId, LargeId | None] = {}
        """Of blobs, what they would be called as large files; None of what cannot be read."""

    def same(self, one: ObjectId, other: ObjectId) -> bool:
        """Whether two names are of the same content. What cannot be read counts as another."""
        if is_large(one) == is_large(other):
            return one == other
        blob, large = (other, one) if is_large(one) else (one, other)
        if blob not in self._names:
            self._names[blob] = self._large_name(blob)
        return self._names[blob] == large

    def forget(self) -> None:
        """Give the memory back."""
        self._names.clear()

    def _large_name(self, blob: ObjectId) -> LargeId | None:
        try:
            return hashlib.sha256(self._packs.read(blob)).digest()
        except StorageUnavailable as error:
            # Whoever needs the content itself is refused with this; here it must not keep anybody from saving.
            _logger.warning("The content %s could not be compared: %s", blob.hex(), error)
            return None
