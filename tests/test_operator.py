"""What an operator sets holds, or the extension does not start: never a start without it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from jupyter_server.serverapp import ServerApp
from traitlets import TraitError
from traitlets.config import Config

from hdsp_agent._operator import artifact_store_of, backend_of
from hdsp_agent.app import HdspAgentApp
from hdsp_agent.errors import InvalidSetting


async def test_a_wrong_value_keeps_the_extension_from_starting(jp_serverapp: ServerApp) -> None:
    jp_serverapp.update_config(Config({"HdspAgentApp": {"ring_frames": 1, "allow_auto_approval": False}}))
    app = HdspAgentApp()
    with pytest.raises(TraitError, match="ring_frames"):
        app._link_jupyter_server_extension(jp_serverapp)
    # Jupyter has logged it and goes on.
    with pytest.raises(TraitError, match="ring_frames"):
        await app._start_jupyter_server_extension(jp_serverapp)
    assert app.services is None


async def test_a_configuration_file_that_cannot_be_read_keeps_the_extension_from_starting(
    jp_serverapp: ServerApp, jp_config_dir: Path
) -> None:
    (jp_config_dir / "jupyter_hdsp_agent_config.py").write_text("this is no Python\n", encoding="utf-8")
    app = HdspAgentApp()
    with pytest.raises(SyntaxError):
        app._link_jupyter_server_extension(jp_serverapp)
    with pytest.raises(SyntaxError):
        await app._start_jupyter_server_extension(jp_serverapp)
    assert app.services is None


async def test_what_conversations_are_kept_in_is_the_operators_or_the_environments(
    jp_serverapp: ServerApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HDSP_AGENT_STORAGE_BACKEND")
    assert backend_of(HdspAgentApp()) == "files"
    monkeypatch.setenv("HDSP_AGENT_STORAGE_BACKEND", "sqlite")
    assert backend_of(HdspAgentApp()) == "sqlite"
    assert backend_of(HdspAgentApp(storage_backend="files")) == "files"
    monkeypatch.setenv("HDSP_AGENT_STORAGE_BACKEND", "paper")
    with pytest.raises(TraitError, match="storage_backend"):
        await HdspAgentApp()._start_jupyter_server_extension(jp_serverapp)


async def test_where_the_database_is_stays_with_the_server(
    jp_serverapp: ServerApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "postgresql://ada:correct-horse-battery@db.example.org/agent"
    monkeypatch.setenv("HDSP_AGENT_STORAGE_URL", url)
    app = HdspAgentApp()
    app._link_jupyter_server_extension(jp_serverapp)
    assert app.storage_url == url
    # Kernels and terminals get what is left of the environment, and every handler of every extension the settings.
    assert "HDSP_AGENT_STORAGE_URL" not in os.environ
    assert jp_serverapp.web_app is not None
    assert "correct-horse" not in str(jp_serverapp.web_app.settings)


async def test_where_artifacts_are_stays_with_the_server(
    jp_serverapp: ServerApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "s3://key:correct-horse-battery@bucket/prefix"
    monkeypatch.setenv("HDSP_AGENT_ARTIFACT_STORE_URL", url)
    app = HdspAgentApp(storage_backend="postgres")
    app._link_jupyter_server_extension(jp_serverapp)
    assert artifact_store_of(app) == url
    assert "HDSP_AGENT_ARTIFACT_STORE_URL" not in os.environ
    assert jp_serverapp.web_app is not None
    assert "correct-horse" not in str(jp_serverapp.web_app.settings)


@pytest.mark.parametrize(
    "wrong",
    [
        {"storage_dir": ""},
        {"storage_dir": "~nobody-of-this-name/x"},
        {"storage_dir": "/tmp/half-\udcff"},
        {"storage_url": "postgresql://ada:secret@[x/y", "storage_backend": "postgres"},
        {"artifact_store_url": "s3://ada:secret@[x/y", "storage_backend": "postgres"},
        {"artifact_store_url": "file:///srv/artifacts", "storage_backend": "sqlite"},
        {"user_config_api_url": "config.example.org"},
        {"user_config_api_url": "file:///etc/passwd"},
    ],
)
async def test_a_value_that_makes_no_sense_is_named(
    jp_serverapp: ServerApp, tmp_path: Path, wrong: dict[str, str]
) -> None:
    app = HdspAgentApp(**{"storage_dir": str(tmp_path / "home"), **wrong})
    with pytest.raises(InvalidSetting) as refused:
        await app._start_jupyter_server_extension(jp_serverapp)
    assert refused.value.field == next(iter(wrong))
    assert refused.value.field in refused.value.message
    assert app.services is None
