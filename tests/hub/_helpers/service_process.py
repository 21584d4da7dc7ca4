"""``hdsp-agent hub`` in a process of its own, which can be killed and started again."""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Mapping
from pathlib import Path

from tests._helpers.free_port import free_port
from tests._helpers.real_hub import ROOT
from tests.cli._helpers.homes import PROGRAM

__all__ = ["PREFIX", "ServiceProcess"]

PREFIX = "/services/hdsp-agent/"


class ServiceProcess:
    """``environment`` is what JupyterHub, or a unit of systemd, would give it."""

    def __init__(self, folder: Path, policies: Path) -> None:
        self.origin = f"http://127.0.0.1:{free_port()}"
        self.url = self.origin + PREFIX
        self.environment: Mapping[str, str] = {}
        self._folder = folder
        self._policies = policies
        self._log = folder / "service.log"
        self._process: Process | None = None

    async def run(self) -> None:
        """Start it, and wait until it listens."""
        with self._log.open("ab") as log:
            began = log.tell()
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, *PROGRAM[1:], "hub",
                "--policies", str(self._policies), "--data", str(self._folder / "data"),
                env={
                    **os.environ,
                    "HDSP_AGENT_HOME": str(self._folder / "service-home"),
                    "JUPYTERHUB_SERVICE_URL": self.origin,
                    "JUPYTERHUB_SERVICE_PREFIX": PREFIX,
                    "PYTHONPATH": str(ROOT),
                    **self.environment,
                },
                stdin=DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip
        while b"listens on" not in (said := self._log.read_bytes()[began:]):
            assert self._process.returncode is None, said.decode()
            await asyncio.sleep(0.02)

    async def kill(self) -> None:
        """End it at once."""
        assert self._process is not None
        self._process.kill()
        await self._process.wait()

    async def end(self) -> None:
        """End it as its hub would."""
        if self._process is not None and self._process.returncode is None:
            self._process.terminate()
            await self._process.wait()

    @property
    def log(self) -> str:
        """What it wrote."""
        return self._log.read_text("utf-8", "replace") if self._log.exists() else ""
