"""Ends of processes in the middle of what they do: real ones, and one that only stands for it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from ...._helpers.forked_python import forked_python

ROOT = Path(__file__).parents[4]


class Died(BaseException):
    """Stands for the end of the process."""


def assert_whole_wherever_it_is_killed(module: str, folder: Path, what: str, step: int, least: int) -> None:
    """Have a module of the tests kill what it does at each so many of its calls: nothing is wrong afterwards, and there were
    at least so many calls to die at.
    """
    done = subprocess.run(
        [forked_python(), "-m", f"tests.checkpoints.{module}", str(folder), what, str(step)],
        cwd=ROOT, capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    report = json.loads(done.stdout)
    assert report["wrong"] == []
    assert report["calls"] >= least
