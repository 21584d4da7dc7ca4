"""What the extension costs a start of Jupyter, and how it starts and stops."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import pytest

from hdsp_agent.comm.services import Services

IMPORT_BUDGET_MS = 150
BACKGROUND_BUDGET = 1.0
"""Of what importing Jupyter Server itself takes."""

_MEASURE = """
import json, sys, time
began = time.perf_counter()
import jupyter_server.serverapp, jupyter_server.extension.application, anyio.to_thread
started = time.perf_counter()
jupyter = (started - began) * 1000
import hdsp_agent.app
loading = (time.perf_counter() - started) * 1000
import hdsp_agent._graph
everything = (time.perf_counter() - started) * 1000
print(json.dumps({"loading": loading, "share": everything / jupyter, "modules": sorted(sys.modules)}))
"""


def _measure(bytecode: Path | None = None) -> dict[str, object]:
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    if bytecode:
        environ["PYTHONPYCACHEPREFIX"] = str(bytecode)
    said = subprocess.run([sys.executable, "-c", _MEASURE], capture_output=True, text=True, check=True, env=environ)
    measured: dict[str, object] = json.loads(said.stdout)
    return measured


@cache
def _imported() -> list[str]:
    modules = _measure()["modules"]
    assert isinstance(modules, list)
    return modules


def test_loading_the_extension_stays_within_its_import_budget(tmp_path: Path) -> None:
    # As installed, with its bytecode: an environment that writes none compiles every module anew.
    _measure(tmp_path)
    # The best of some: others share the machine.
    loading, share = math.inf, math.inf
    for _ in range(20):
        run = _measure(tmp_path)
        loading = min(loading, float(str(run["loading"])))
        share = min(share, float(str(run["share"])))
        if loading <= IMPORT_BUDGET_MS and share <= BACKGROUND_BUDGET:
            break
    assert loading <= IMPORT_BUDGET_MS
    # What is imported in a thread once Jupyter listens has a bound too, else it would creep. How fast the
    # machine is right now is told by Jupyter's own import.
    assert share <= BACKGROUND_BUDGET


@pytest.mark.parametrize(
    "sdk", ["anthropic", "openai", "genai_prices", "keyring", "cryptography", "boto3", "google.genai"]
)
def test_starting_imports_no_provider_sdk_and_nothing_heavy(sdk: str) -> None:
    assert sdk not in _imported()


async def test_a_started_extension_answers_and_stops_cleanly(services: Services, jp_fetch) -> None:
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
