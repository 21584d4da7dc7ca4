"""Storage folders for the command line's tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from ._helpers.homes import Home, filled


@pytest.fixture(scope="module")
def shared_home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Three tasks to look at, for tests that change nothing."""
    return filled(tmp_path_factory.mktemp("cli"))


@pytest.fixture
def own_home(tmp_path: Path) -> Home:
    """Three tasks of the test's own."""
    return filled(tmp_path)
