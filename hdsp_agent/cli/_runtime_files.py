"""The Jupyter Servers that run on this machine under this account, from the files they leave in Jupyter's runtime folder.

Jupyter's own function imports all of the server, which takes two seconds; a program that waits for us gives up after ten.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["RunningJupyter", "running_jupyters"]

_FILES: Final = "jpserver-*.json"


@dataclass(frozen=True)
class RunningJupyter:
    """One server, as it says of itself."""

    url: str
    """Ends with a slash."""
    root: Path
    token: str
    socket: str
    """The Unix socket it listens on instead of a port; empty otherwise."""


def running_jupyters(folder: Path | None = None) -> list[RunningJupyter]:
    """Those whose process lives, in the order of their addresses. The folder is Jupyter's own unless another is named."""
    from jupyter_core.paths import jupyter_runtime_dir

    return sorted(_read(folder or Path(jupyter_runtime_dir())), key=lambda server: server.url)


def _read(folder: Path) -> Iterator[RunningJupyter]:
    import psutil

    for file in folder.glob(_FILES):
        try:
            info = json.loads(file.read_text(encoding="utf-8"))
            pid, url, root = int(info["pid"]), str(info["url"]), Path(info["root_dir"])
        except (OSError, ValueError, KeyError, TypeError):
            # One that is just being written, or of somebody else's form.
            continue
        if psutil.pid_exists(pid):
            yield RunningJupyter(url.rstrip("/") + "/", root, str(info.get("token") or ""), str(info.get("sock") or ""))
