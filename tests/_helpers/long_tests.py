"""How far the tests go: ``make test-long`` sets HDSP_AGENT_LONG_TESTS."""

import os
from collections import Counter
from collections.abc import Iterable
from typing import Final

import pytest

__all__ = ["left_for_later", "rounds"]

_IS_LONG: Final = bool(os.environ.get("HDSP_AGENT_LONG_TESTS"))


def left_for_later(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """What only ``make test-long`` runs: what is marked ``long``, and cases beyond the first few of what is ``in_short``."""
    if _IS_LONG:
        return []
    later = []
    cases: Counter[str] = Counter()
    for item in items:
        short = item.get_closest_marker("in_short")
        name = item.nodeid.partition("[")[0]
        if item.get_closest_marker("long") is not None or (short is not None and cases[name] >= short.args[0]):
            later.append(item)
        cases[name] += 1
    return later


def rounds(short: int, long: int) -> int:
    """The number of rounds: short for everyday, long for ``make test-long``."""
    return long if _IS_LONG else short
