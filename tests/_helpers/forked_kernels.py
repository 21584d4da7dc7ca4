"""Kernels that begin at once: IPython's own, each a process of its own, forked from one that has imported it already.

Most of the time of a short test with a kernel goes into the kernel's imports, and into those of its first cell. A test of a
kernel's process, its memory or its modules takes the kernel that is installed.
"""

from __future__ import annotations

import atexit
import json
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from jupyter_client.manager import KernelManager

from .forked_python import forked_python

__all__ = ["begin_kernels_at_once"]

# Nothing that such a kernel would not import by itself before its first cell.
_PRELOADED: Final = (
    "IPython.core.completerlib",
    "IPython.extensions.storemagic",
    "ipykernel.debugger",
    "ipykernel.kernelapp",
    "tornado.platform.asyncio",
)


def begin_kernels_at_once(patch: pytest.MonkeyPatch, *more: str, path: Path | None = None) -> None:
    """Kernels that Jupyter starts from here on are such, also those of other programs, and have imported these modules, too.

    Modules are looked for in ``path`` first.
    """
    patch.setenv("JUPYTER_PATH", str(_spec_folder(more, path)))
    # Jupyter looks every so often whether a kernel that it ended is gone: by default every tenth of a second.
    patch.setattr(KernelManager._async_wait, "__defaults__", (0.01,))


@cache
def _spec_folder(more: tuple[str, ...], path: Path | None) -> Path:
    """A folder of Jupyter's with such a kernel under the name of the one that is installed."""
    folder = Path(tempfile.mkdtemp(prefix="hdsp-kernels-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    spec = json.loads(Path(sys.prefix, "share", "jupyter", "kernels", "python3", "kernel.json").read_text("utf-8"))
    spec["argv"][0] = forked_python((*_PRELOADED, *more), path)
    own = folder / "kernels" / "python3"
    own.mkdir(parents=True)
    (own / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
    return folder
