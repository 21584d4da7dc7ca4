"""Checkpoints have what people wrote: nobody else may look into them, whatever the umask and whichever came first."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from hdsp_agent.checkpoints import AsyncFileCheckpoints
from tests.persistence.test_crashes import unix

from ._helpers.workspace_fixtures import the_store, write

ROOT = Path(__file__).parents[3]
pytestmark = unix


def open_to_others(folder: Path) -> list[str]:
    """What others could read, write or enter, the folder itself among it."""
    found = [folder, *folder.rglob("*")]
    assert len(found) > 10
    return [f"{stat.S_IMODE(path.lstat().st_mode):o} {path}" for path in found if path.lstat().st_mode & 0o077]


def run(*command: str, env: dict[str, str]) -> None:
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.parametrize("umask", ["000", "022", "077"])
def test_the_first_command_in_a_new_home_makes_it_private(tmp_path: Path, umask: str) -> None:
    write(tmp_path, {"workspace/a.txt": "one", "workspace/data/b.csv": "1\n"})
    run(
        "sh", "-c", f'umask {umask}; exec "$0" -m hdsp_agent.cli checkpoint save --workspace "$1"',
        sys.executable, str(tmp_path / "workspace"),
        env={**os.environ, "HDSP_AGENT_HOME": str(tmp_path / "new" / "home"), "JUPYTER_CONFIG_DIR": str(tmp_path)},
    )  # fmt: skip
    assert open_to_others(tmp_path / "new") == []


def test_a_server_makes_it_private_with_cells_variables_and_large_files(tmp_path: Path) -> None:
    run(sys.executable, "-m", "tests.checkpoints.files._helpers.open_umask", str(tmp_path), env=dict(os.environ))
    assert open_to_others(tmp_path / "new") == []
    store = the_store(tmp_path / "new" / "home" / "checkpoints")
    assert {"notebooks", "lfs", "restoring.json", "variables"} <= set(os.listdir(store))


async def test_what_an_earlier_version_left_open_is_closed(
    checkpoints: AsyncFileCheckpoints, workspace: Path, store_dir: Path
) -> None:
    write(workspace, {"a.txt": "one"})
    first = await checkpoints.save("first")
    store = the_store(store_dir)
    for folder in (store_dir, store, store / "objects", store / "refs"):
        folder.chmod(0o755)
    again = AsyncFileCheckpoints(workspace, store_dir)
    assert (await again.list())[0].id == first.id
    assert open_to_others(store_dir) == []


async def test_a_folder_that_all_may_write_into_stays_as_it_is(workspace: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    write(workspace, {"a.txt": "one"})
    await AsyncFileCheckpoints(workspace, shared).save("first")
    assert stat.S_IMODE(shared.stat().st_mode) == 0o1777
