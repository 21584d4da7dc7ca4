"""What the extension costs a start of Jupyter, and how it starts and stops."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import pytest

from hdsp_agent.comm.services import Services
from tests._helpers.jupyter_fetch import Fetch

_MEASURE = """
import json, sys
import jupyter_server.serverapp, jupyter_server.extension.application, anyio.to_thread
jupyter = set(sys.modules)
import hdsp_agent.app
loaded = set(sys.modules)
import hdsp_agent._graph
print(json.dumps([sorted(loaded - jupyter), sorted(sys.modules.keys() - loaded)]))
"""


@cache
def _imported() -> tuple[list[str], list[str]]:
    """What loading the extension imports after what Jupyter imports anyway, and what follows in a thread."""
    said = subprocess.run([sys.executable, "-c", _MEASURE], capture_output=True, text=True, check=True)
    loaded, later = json.loads(said.stdout)
    return loaded, later


def test_loading_the_extension_stays_within_its_import_budget() -> None:
    loaded, later = _imported()
    # Six modules of our own, and nobody else's.
    assert len(loaded) <= 6 and all(name.partition(".")[0] == "hdsp_agent" for name in loaded)
    # What is imported in a thread once Jupyter listens has a bound too, else it would creep.
    assert len([name for name in later if name.partition(".")[0] != "hdsp_agent"]) < 150


@pytest.mark.parametrize(
    "sdk",
    [
        "anthropic",
        "openai",
        "genai_prices",
        "keyring",
        "cryptography",
        "boto3",
        "google.genai",
        "mcp",
        "mcp_types",
        "starlette",
    ],
)
def test_starting_imports_no_provider_sdk_and_nothing_heavy(sdk: str) -> None:
    loaded, later = _imported()
    assert sdk not in loaded and sdk not in later


def test_starting_imports_what_shares_memory_only_with_a_database() -> None:
    assert not [name for name in _imported()[1] if name.startswith("hdsp_agent.memory.sharing")]


async def test_a_started_extension_answers_and_stops_cleanly(services: Services, jp_fetch: Fetch) -> None:
    answer = await jp_fetch("hdsp-agent", "api", "health")
    assert json.loads(answer.body)["version"] == services.version


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_server_that_is_stopped_while_the_extension_starts_is_gone(tmp_path: Path) -> None:
    (tmp_path / "jupyter_server_config.json").write_text(
        json.dumps({"ServerApp": {"jpserver_extensions": {"hdsp_agent": True}}}), encoding="utf-8"
    )
    environ = {
        **os.environ,
        "HOME": str(tmp_path),
        "HDSP_AGENT_HOME": str(tmp_path / "home"),
        "JUPYTER_CONFIG_DIR": str(tmp_path),
        "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime"),
    }
    command = [
        sys.executable, "-m", "jupyter_server", "--allow-root", "--no-browser",
        "--ServerApp.port=0", f"--ServerApp.root_dir={tmp_path}",
    ]  # fmt: skip
    log = tmp_path / "log"
    with log.open("wb") as file:
        server = subprocess.Popen(command, env=environ, stdout=file, stderr=file)
    try:
        deadline = time.monotonic() + 180
        while "is running at" not in log.read_text(encoding="utf-8"):
            assert server.poll() is None and time.monotonic() < deadline, log.read_text(encoding="utf-8")
            time.sleep(0.01)
        # It listens now, and the extension is being imported in a thread.
        time.sleep(0.05)
        server.send_signal(signal.SIGTERM)
        assert server.wait(timeout=60) in (0, -signal.SIGTERM)
    finally:
        server.kill()
        server.wait()
