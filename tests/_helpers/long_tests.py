"""How far the tests go that can go on for long: ``make test-long`` sets HDSP_AGENT_LONG_TESTS."""

import os

__all__ = ["rounds"]


def rounds(short: int, long: int) -> int:
    """The number of rounds: short for everyday, long for ``make test-long``."""
    return long if os.environ.get("HDSP_AGENT_LONG_TESTS") else short
