"""How long a contributor waits: ``make check``, ``make docs`` and ``make test``, installed before and with warm caches.

SUITE names the targets, SUITE_RUNS says how often each runs. SUITE_ADD=1 adds these runs to those on record: three of
``make test`` take longer than most machines are quiet.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from pathlib import Path
from statistics import median
from typing import Final

from .results import FILE, Result, result

ROOT: Final = Path(__file__).resolve().parent.parent
_RUNS: Final = int(os.environ.get("SUITE_RUNS", "3"))
# A target, and how many minutes it may take on two quiet cores.
_GOALS: Final = {"check": 4, "docs": None, "test": 20}


def measure() -> list[Result]:
    """Run each target that SUITE names, else all of them."""
    chosen = os.environ.get("SUITE", " ".join(_GOALS)).split()
    return [_measured(target, _GOALS[target]) for target in chosen]


def _measured(target: str, goal: int | None) -> Result:
    earlier = _on_record(target) if os.environ.get("SUITE_ADD") else []
    seconds = [*earlier, *(_seconds(target) for _ in range(_RUNS))]
    middle = median(seconds)
    return result(
        f"suite.{target}",
        f"make {target} on {os.cpu_count()} cores, median; {', '.join(f'{took:.0f} s' for took in seconds)}",
        middle,
        "s",
        goal="none" if goal is None else f"<= {goal * 60} s",
        met=goal is None or middle <= goal * 60,
        runs=len(seconds),
    )


def _on_record(target: str) -> list[float]:
    """How long the runs took that are on record."""
    told = [entry["what"] for entry in json.loads(FILE.read_text("utf-8")) if entry["id"] == f"suite.{target}"]
    return [float(took) for what in told for took in re.findall(r"(\d+) s(?:,|$)", what.partition("; ")[2])]


def _seconds(target: str) -> float:
    # A wheel that was checked before would not be checked again.
    (ROOT / ".venv/.stamp-wheel").unlink(missing_ok=True)
    begun = time.perf_counter()
    subprocess.run(["make", target], cwd=ROOT, check=True)
    return time.perf_counter() - begun
