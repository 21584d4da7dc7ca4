"""Several servers with one workspace and a notebook each: nobody's restore harms another's."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hdsp_agent.checkpoints import AsyncFileCheckpoints
from hdsp_agent.checkpoints.timeline import Parts, Timeline

from ..._helpers.forked_python import forked_python
from ...notebooks._helpers.headless import headless_notebooks
from ...notebooks._helpers.pages import sources_in
from ..files._helpers.workspace_fixtures import assert_sound
from ._helpers.busy_timeline import TURNS

ROOT = Path(__file__).parents[3]
NAMES = ("one", "two", "three")


@pytest.mark.long
@pytest.mark.slow
async def test_processes_restore_their_notebooks_in_one_store(quick_folder: Path) -> None:
    workspace, store_dir = quick_folder / "workspace", quick_folder / "home" / "checkpoints"
    workspace.mkdir()
    running = [
        subprocess.Popen(
            [forked_python(), "-m", "tests.checkpoints.timeline._helpers.busy_timeline", str(workspace), str(store_dir), name],
            cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for name in NAMES
    ]  # fmt: skip
    waits = 0
    for process in running:
        told, complaint = process.communicate(timeout=280)
        assert process.returncode == 0, complaint.decode()[-3000:]
        waits += int(told)
    assert waits, "they never met"
    files = AsyncFileCheckpoints(workspace, store_dir)
    assert await files.interrupted() is None
    numbers = [done.seq for done in await files.operations()]
    assert numbers == sorted(set(numbers), reverse=True)
    assert_sound(store_dir, leftovers=True)
    async with headless_notebooks(workspace) as notebooks:
        line = Timeline(files, files.folder, notebooks=notebooks, variables=None, root=workspace)
        for name in NAMES:
            for record in await line.files.list():
                if record.reason == f"before {name} {TURNS - 1}":
                    await line.restore(record.id, Parts(notebooks=True, path=f"{name}.ipynb", overwrite=True))
            assert sources_in(workspace / f"{name}.ipynb") == [f"turn = {TURNS - 1}"]
        await line.close()
