"""A workspace and the folder its checkpoints are kept in."""

from __future__ import annotations

from pathlib import Path

import pytest

from hdsp_agent.checkpoints import AsyncFileCheckpoints
from tests.persistence.test_crashes import quick_folder

__all__ = ["quick_folder"]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty workspace."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def store_dir(tmp_path: Path) -> Path:
    """Where checkpoints are kept."""
    return tmp_path / "home" / "checkpoints"


@pytest.fixture
def checkpoints(workspace: Path, store_dir: Path) -> AsyncFileCheckpoints:
    """The workspace's checkpoints."""
    return AsyncFileCheckpoints(workspace, store_dir)
