"""How far the tests go that can go on for long: ``make test-long`` sets HDSP_AGENT_LONG_TESTS."""

import os
from typing import Final

import pytest

__all__ = ["long_only", "rounds"]

_IS_LONG: Final = bool(os.environ.get("HDSP_AGENT_LONG_TESTS"))

long_only = pytest.mark.skipif(not _IS_LONG, reason="a short form of it runs every day, and this in make test-long")
"""For what takes long, and of which another test shows the same in short."""


def rounds(short: int, long: int) -> int:
    """The number of rounds: short for everyday, long for ``make test-long``."""
    return long if _IS_LONG else short
