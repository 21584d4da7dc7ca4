"""How tests are held to a time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

LATE = """
import time
from tests.timing import within

runs = 0

def test_late_twice(tmp_path):
    global runs
    runs += 1
    (tmp_path / "made").mkdir()
    with within(0.2):
        time.sleep(0.3 if runs < 3 else 0)
    assert runs == 3

def test_late_for_ever():
    with within(0.01):
        time.sleep(0.02)

others = 0

def test_wrong_at_once():
    global others
    others += 1
    assert others > 1
"""


def test_a_test_that_is_late_is_run_anew_and_one_that_is_wrong_is_not(tmp_path: Path) -> None:
    (tmp_path / "test_late.py").write_text(LATE, encoding="utf-8")
    # Without the configuration of the project, whose plugins take their time.
    command = [sys.executable, "-m", "pytest", "-q", "--color=no", "-p", "tests.timing", "-p", "no:cacheprovider"]
    run = subprocess.run(
        [*command, "-c", "/dev/null", "--rootdir", str(tmp_path), str(tmp_path)],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert "2 failed, 1 passed" in run.stdout, run.stdout + run.stderr
    assert "test_late_for_ever" in run.stdout and "may take 0.01 s" in run.stdout
    assert "test_wrong_at_once" in run.stdout
