"""Runs what befalls a database of tasks: see ``table_processes``."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from ..._helpers.forked_python import forked_python

__all__ = ["ROOT", "scenario"]

ROOT = Path(__file__).parents[3]


def scenario(name: str, *arguments: object) -> dict[str, object]:
    """Run it to its end, and return what it reports."""
    done = subprocess.run(
        [forked_python(), "-m", "tests.persistence._helpers.table_processes", name, *map(str, arguments)],
        cwd=ROOT, capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    report: dict[str, object] = json.loads(done.stdout)
    return report
