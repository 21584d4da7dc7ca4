"""A real Jupyter Server in a process of its own, that serves programs outside and asks the scripted model."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from hdsp_agent.ipc import FOLDER, IpcServerInfo, find_servers

__all__ = ["Jupyter", "jupyter_server"]

_START_SECONDS = 180.0


@dataclass
class Jupyter:
    """A running server. ``kill`` ends it without warning, ``stop`` as a person does."""

    process: asyncio.subprocess.Process
    workspace: Path
    ipc: Path
    log: Path

    @property
    def endpoint(self) -> IpcServerInfo:
        """Its socket."""
        [found] = [server for server in find_servers(self.ipc) if server.pid == self.process.pid]
        return found

    @property
    def address(self) -> tuple[str, str]:
        """Where it answers, and the token that lets one in."""
        [told] = [
            json.loads(path.read_text(encoding="utf-8"))
            for path in (self.log.parent / "runtime").glob(f"jpserver-{self.process.pid}.json")
        ]
        return told["url"], told["token"]

    @property
    def audit_log(self) -> Path:
        """Where it records who did what."""
        return self.ipc.parent / "audit.jsonl"

    async def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End it."""
        if self.process.returncode is None:
            self.process.send_signal(how)
        await asyncio.wait_for(self.process.wait(), 120)

    async def kill(self) -> None:
        """End it without warning."""
        await self.stop(signal.SIGKILL)


@asynccontextmanager
async def jupyter_server(
    folder: Path, turns: list[list[dict[str, JsonValue]]], settings: Mapping[str, JsonValue] | None = None
) -> AsyncIterator[Jupyter]:
    """Run one below this folder, from when its socket is there; it is gone afterwards. ``settings`` are fixed there."""
    workspace, home, script = folder / "work", folder / "home", folder / "script.json"
    workspace.mkdir(exist_ok=True)
    script.write_text(json.dumps(turns), encoding="utf-8")
    agent = {
        "ipc_enabled": True,
        "storage_dir": str(home),
        "default_provider": "fake-ai",
        "default_model": str(script),
        "fixed_settings": dict(settings or {}),
    }
    config = {"ServerApp": {"jpserver_extensions": {"hdsp_agent": True}}, "HdspAgentApp": agent}
    (folder / "jupyter_server_config.json").write_text(json.dumps(config), encoding="utf-8")
    environ = {
        **os.environ,
        "HOME": str(folder),
        "JUPYTER_CONFIG_DIR": str(folder),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
    }
    log = folder / "server.log"
    with log.open("ab") as output:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "jupyter_server", "--allow-root", "--no-browser",
            "--ServerApp.port=0", f"--ServerApp.root_dir={workspace}",
            env=environ, cwd=folder, stdout=output, stderr=output,
        )  # fmt: skip
    server = Jupyter(process, workspace, home / FOLDER, log)
    try:
        await asyncio.wait_for(_ready(server), _START_SECONDS)
        yield server
    finally:
        await server.stop(signal.SIGTERM)


async def _ready(server: Jupyter) -> None:
    while not any(found.pid == server.process.pid for found in find_servers(server.ipc)):
        assert server.process.returncode is None, server.log.read_text(encoding="utf-8")
        await asyncio.sleep(0.05)
