"""What the tests of notebooks share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from jupyter_server.services.contents.filemanager import FileContentsManager

from tests._helpers.forked_kernels import begin_kernels_at_once

from ._helpers.contents_managers import MANAGERS, manager_on


@pytest.fixture(autouse=True)
def kernels_begin_at_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """None of them imports IPython anew, nor what a file's ``IMPORTED_IN_KERNELS`` names."""
    begin_kernels_at_once(monkeypatch, *getattr(request.module, "IMPORTED_IN_KERNELS", ()))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a contents manager keeps its files."""
    root = tmp_path / "root"
    root.mkdir()
    return root


@pytest.fixture(params=sorted(MANAGERS))
def any_manager(folder: Path, request: pytest.FixtureRequest) -> Iterator[FileContentsManager]:
    """Each of Jupyter's own managers in turn."""
    with manager_on(folder, request.param) as manager:
        yield manager


@pytest.fixture
def manager(folder: Path) -> Iterator[FileContentsManager]:
    """The manager that Jupyter has by default."""
    with manager_on(folder) as manager:
        yield manager
