"""A real S3-compatible store for tests: a SeaweedFS of its own on loopback, which ends with them."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.error import HTTPError, URLError
from urllib.request import urlopen
from uuid import uuid4

import pytest

from .free_port import free_port
from .timing import PATIENCE

__all__ = ["KEY_ID", "SECRET", "S3Server", "s3_server"]

KEY_ID: Final = "agent-key-id"
SECRET: Final = "correct/horse+battery-staple"
_SECRET_IN_URL: Final = "correct%2Fhorse%2Bbattery-staple"
_BUCKET: Final = "artifacts"
_BESIDE: Final = Path(__file__).parents[2] / ".objects" / "bin"
_MISSING: Final = "There is no SeaweedFS here; `make objects` installs it."
_SERVICES: Final = ("master", "volume", "filer", "s3")


class S3Server:
    """Its address is the same after it was stopped and started again, and so is what it has."""

    def __init__(self, program: Path, folder: Path) -> None:
        self._program = program
        self._folder = folder
        self._ports = {name: (free_port(), free_port()) for name in _SERVICES}
        self._process: subprocess.Popen[bytes] | None = None
        self.endpoint: Final = f"http://127.0.0.1:{self._ports['s3'][0]}"

    def url(self, *, prefix: str | None = None, secret: str = _SECRET_IN_URL, bucket: str = _BUCKET) -> str:
        """An address of artifact_store_url's, with a folder of its own unless one is named."""
        return f"s3://{KEY_ID}:{secret}@{bucket}/{prefix or uuid4().hex}?endpoint={self.endpoint}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        (self._folder / "data").mkdir(exist_ok=True)
        identity = {
            "name": "agent",
            "credentials": [{"accessKey": KEY_ID, "secretKey": SECRET}],
            "actions": ["Admin", "Read", "Write", "List"],
        }
        config = self._folder / "s3.json"
        config.write_text(json.dumps({"identities": [identity]}), "utf-8")
        ports = [
            option
            for name, (port, grpc) in self._ports.items()
            for option in (f"-{name}.port={port}", f"-{name}.port.grpc={grpc}")
        ]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    self._program, "server", f"-dir={self._folder / 'data'}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", *ports,
                    "-volume.max=20", "-master.volumeSizeLimitMB=64", "-master.electionTimeout=500ms", "-master.telemetry=false",
                    "-filer", "-s3", f"-s3.config={config}", "-s3.iam=false", "-s3.port.iceberg=0", "-s3.port.lance=0",
                ],
                stdout=log, stderr=log, cwd=self._folder, env={"HOME": str(self._folder)},
            )  # fmt: skip
        deadline = time.monotonic() + PATIENCE
        while not self._answers():
            assert self._process.poll() is None, (self._folder / "log").read_text("utf-8", "replace")[-2000:]
            assert time.monotonic() < deadline, "SeaweedFS did not start"
            time.sleep(0.05)

    def kill(self) -> None:
        """End it at once."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    @contextmanager
    def killed(self) -> Iterator[None]:
        """Within the block it is gone; at its end it is there again, with all that it had."""
        self.kill()
        try:
            yield
        finally:
            self.start()

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """Within the block it takes connections and answers nothing."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def _answers(self) -> bool:
        """Whether it can store something: its parts find each other some time after they listen."""
        from hdsp_agent.errors import ArtifactStoreUnavailable
        from hdsp_agent.persistence.objects._store_address import open_object_store

        try:
            with urlopen(f"{self.endpoint}/healthz", timeout=5):
                pass
        except HTTPError:
            pass
        except (URLError, OSError):
            return False
        try:
            open_object_store(self.url(prefix="started")).put("ready", b"ready")
        except ArtifactStoreUnavailable:
            return False
        return True


@contextmanager
def s3_server() -> Iterator[S3Server]:
    """A server that runs. Skips where there is none, or no client for it."""
    pytest.importorskip("obstore")
    program = _program()
    if program is None:
        pytest.skip(_MISSING)
    folder = Path(tempfile.mkdtemp(prefix="hdsp-objects-"))
    server = S3Server(program, folder)
    try:
        server.start()
        yield server
    finally:
        if server._process is not None:
            server.kill()
        for port in (port for ports in server._ports.values() for port in ports):
            # Its sockets are always there, wherever its other files are.
            for left in Path("/tmp").glob(f"seaweedfs-*-{port}.sock"):
                left.unlink(missing_ok=True)
        shutil.rmtree(folder)


def _program() -> Path | None:
    places = (_BESIDE, Path(sys.prefix) / "bin")
    return next((place / "weed" for place in places if (place / "weed").is_file()), None)
