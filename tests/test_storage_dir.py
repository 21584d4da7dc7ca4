"""Where everything is kept for a user that the system knows nothing of."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from hdsp_agent import _storage_dir
from hdsp_agent._storage_dir import default_storage_dir, home_folder
from tests.comm._helpers.jupyter_process import JupyterProcess

_NAMELESS = """
import pwd

def unknown(uid):
    raise KeyError(f"getpwuid(): uid not found: {uid}")

pwd.getpwuid = unknown
"""


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """As in a container with a user id of its own, and no HOME."""
    monkeypatch.delenv("HOME")
    monkeypatch.delenv("HDSP_AGENT_HOME", raising=False)
    monkeypatch.setattr(os, "getuid", lambda: os.stat(tmp_path).st_uid)
    monkeypatch.setattr("pwd.getpwuid", _unknown)
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    _storage_dir._instead_of_home.cache_clear()
    yield tmp_path
    _storage_dir._instead_of_home.cache_clear()


def _unknown(_: int) -> None:
    raise KeyError("no such user")


def test_a_user_without_a_home_has_a_private_folder_and_is_told(nobody: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = home_folder()
    assert folder.parent == nobody and stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert default_storage_dir() == str(folder / ".hdsp-agent")
    assert len(caplog.records) == 1 and str(folder) in caplog.text and "HDSP_AGENT_HOME" in caplog.text


def test_a_folder_that_others_may_write_to_is_not_used(nobody: Path) -> None:
    planted = nobody / f"hdsp-agent-{os.getuid()}"
    planted.mkdir()
    planted.chmod(0o777)
    assert home_folder() != planted


def test_a_link_in_its_place_is_not_followed(nobody: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir(mode=0o700)
    (nobody / f"hdsp-agent-{os.getuid()}").symlink_to(other)
    assert home_folder() not in (other, nobody / f"hdsp-agent-{os.getuid()}")


async def test_a_server_of_such_a_user_serves_and_says_where_everything_is_kept(tmp_path: Path) -> None:
    temporary, names = tmp_path / "tmp", tmp_path / "names"
    temporary.mkdir()
    names.mkdir()
    (names / "sitecustomize.py").write_text(_NAMELESS, encoding="utf-8")
    server = JupyterProcess(
        tmp_path / "server",
        environment={
            "HOME": None, "HDSP_AGENT_HOME": None, "HDSP_AGENT_MODELS": None, "XDG_CACHE_HOME": None, "TMPDIR": str(temporary),
            "LOGNAME": None, "USER": None, "LNAME": None, "USERNAME": None, "IPYTHONDIR": str(tmp_path / "ipython"),
            "JUPYTER_DATA_DIR": str(tmp_path / "data"), "PYTHONPATH": os.pathsep.join([str(names), os.environ.get("PYTHONPATH", "")]),
        },
    )  # fmt: skip
    # Jupyter itself would look for a home for what its very old versions left there.
    (tmp_path / "server" / "config" / "migrated").touch()
    try:
        await server.start()
        health = await server.call("GET", "health")
        kept = temporary / f"hdsp-agent-{os.getuid()}" / ".hdsp-agent"
        assert (health["status"], health["storageDir"]) == ("ok", str(kept))
        assert (await server.call("GET", "history"))["total"] == 0
        assert f"everything is kept in {kept.parent}" in server.log
    finally:
        server.kill()
