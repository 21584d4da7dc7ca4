"""Git repositories for tests, made by Git itself."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from pydantic import JsonValue

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs Git")


def git(folder: Path, *words: str) -> str:
    """Run Git as nobody's in particular, and return what it says."""
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.test", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def write(folder: Path, **files: str) -> None:
    """Write files whose names have ``__`` for a slash and ``_`` for a dot."""
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def commit(folder: Path, message: str) -> str:
    """Commit all there is; the hash."""
    if not (folder / ".git").exists():
        git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", message, "--allow-empty")
    return git(folder, "rev-parse", "HEAD")


def notebook(*sources: str, output: str = "") -> str:
    """A notebook of code cells c1, c2 …, of which each has printed something."""
    outputs: list[JsonValue] = [{"output_type": "stream", "name": "stdout", "text": output}]
    cells: list[JsonValue] = [
        {
            "cell_type": "code",
            "id": f"c{at}",
            "source": source,
            "metadata": {},
            "outputs": outputs,
            "execution_count": at,
        }
        for at, source in enumerate(sources, 1)
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)
