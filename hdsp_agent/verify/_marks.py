"""What tags and comments say about a cell, as nbval reads them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

__all__ = ["ignores_output", "is_skipped", "may_fail"]

_COMMENT: Final = re.compile(r"^\s*#\s*((?:NBVAL_|PYTEST_VALIDATE_)\w+)", re.MULTILINE)


def is_skipped(cell: Mapping[str, object]) -> bool:
    """Whether it is not to run."""
    return _has(cell, "skip", "skip-execution", "nbval-skip", "NBVAL_SKIP")


def ignores_output(cell: Mapping[str, object]) -> bool:
    """Whether it runs, and may show anything."""
    return _has(cell, "nbval-ignore-output", "NBVAL_IGNORE_OUTPUT", "PYTEST_VALIDATE_IGNORE_OUTPUT")


def may_fail(cell: Mapping[str, object]) -> bool:
    """Whether it is to fail."""
    return _has(cell, "raises-exception", "nbval-raises-exception", "NBVAL_RAISES_EXCEPTION")


def _has(cell: Mapping[str, object], *marks: str) -> bool:
    metadata = cell.get("metadata")
    tags = metadata.get("tags") if isinstance(metadata, Mapping) else None
    given = {tag for tag in tags if isinstance(tag, str)} if isinstance(tags, Sequence) else set()
    source = cell.get("source")
    return bool(given & set(marks)) or bool(set(_COMMENT.findall(str(source))) & set(marks))
