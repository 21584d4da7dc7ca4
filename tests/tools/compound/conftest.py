"""What the tests of the compound tools share."""

from __future__ import annotations

import pytest

from tests._helpers.forked_kernels import begin_kernels_at_once


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The Bash kernel's own description has a key that traitlets warns about."""
    for item in items:
        if "tools/compound" in item.nodeid:
            item.add_marker(pytest.mark.filterwarnings("ignore:Passing unrecognized arguments:DeprecationWarning"))


@pytest.fixture(autouse=True)
def nothing_blocks_the_loop() -> None:
    """Jupyter's own managers read small files on the loop, below the tools; what else blocks would be the tools'."""


@pytest.fixture(autouse=True)
def kernels_begin_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of them imports IPython anew, nor pandas."""
    begin_kernels_at_once(monkeypatch, "pandas")
