"""The production bundle of our own code, made of what is compiled in lib/."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from .children import ROOT
from .results import Result, result

GOAL_KB: Final = 350.0


@contextmanager
def production_build() -> Iterator[Path]:
    """A folder for ``JUPYTER_PATH`` with a production build of a copy: the checkout's own bundle is left as it is."""
    with tempfile.TemporaryDirectory(prefix="hdsp-bench-bundle-") as folder:
        checkout, share = Path(folder, "checkout"), Path(folder, "share")
        checkout.mkdir()
        shutil.copytree(_build(checkout), share / "labextensions" / "hdsp-agent")
        yield share


def measure() -> list[Result]:
    """What all scripts weigh: no more than that is there at start."""
    with production_build() as share:
        scripts = {path.name: path.read_bytes() for path in share.rglob("static/*.js")}
    sizes = {name: len(gzip.compress(code, 9)) / 1000 for name, code in scripts.items()}
    everything = sum(sizes.values())
    return [
        result(
            "panel.bundle", f"all our scripts, gzipped, with what is loaded on demand ({len(sizes)} files, the largest"
            f" {max(sizes.values()):.0f} kB)",
            everything, "kB", goal=f"<= {GOAL_KB:g} kB at start", met=everything <= GOAL_KB, runs=1,
        ),
    ]  # fmt: skip


def _build(checkout: Path) -> Path:
    """A production build of a checkout that shares its sources with this one."""
    for name in ("package.json", "pyproject.toml", "yarn.lock"):
        shutil.copy(ROOT / name, checkout)
    shutil.copytree(ROOT / "lib", checkout / "lib")
    shutil.copytree(ROOT / "labextension", checkout / "labextension", ignore=shutil.ignore_patterns("dist"))
    (checkout / "node_modules").symlink_to(ROOT / "node_modules")
    builder = Path(sys.executable).with_name("jupyter-builder")
    subprocess.run([str(builder), "build", "."], cwd=checkout, check=True, capture_output=True)
    package = json.loads((checkout / "package.json").read_text(encoding="utf-8"))
    return checkout / str(package["jupyterlab"]["outputDir"])
