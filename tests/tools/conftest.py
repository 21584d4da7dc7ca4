"""What the tests of the tools share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from blockbuster import blockbuster_ctx

from ._helpers.recording_context import RecordingContext


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty workspace with a folder of its own around it."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def task(workspace: Path) -> RecordingContext:
    """A task that works there and approves everything."""
    return RecordingContext(workspace)


@pytest.fixture(autouse=True)
def nothing_blocks_the_loop(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A call of the tools that would hold up the event loop fails the test."""
    with blockbuster_ctx(scanned_modules=["hdsp_agent.tools"]):
        yield
        # Later it would put back the watched calls that it found, for all tests that follow.
        monkeypatch.undo()
