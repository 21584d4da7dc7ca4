"""What the tests of checkpoints share."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The Bash kernel's own description has a key that traitlets warns about, and then it is not found."""
    for item in items:
        if "checkpoints/checkpoints" in item.nodeid:
            item.add_marker(pytest.mark.filterwarnings("ignore:Passing unrecognized arguments:DeprecationWarning"))
