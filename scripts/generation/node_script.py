"""Runs scripts under Node, which the environment brings with it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["run_node"]


def run_node(script: Path, *arguments: str, text: str) -> str:
    """What the script prints when it reads the text from its input; the program ends where it fails."""
    node = shutil.which("node", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if node is None:
        sys.exit("Node is missing. Run `make install` first.")
    done = subprocess.run(
        [node, str(script), *arguments], input=text, capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode != 0:
        sys.exit(f"{script.name} {' '.join(arguments)} failed:\n{done.stderr}")
    return done.stdout
