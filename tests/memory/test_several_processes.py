"""Several processes on one home, some of them killed: no job is done twice, none is lost, no file is half written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from .._helpers.forked_python import forked_python
from .._helpers.long_tests import rounds

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="forks")]

ROOT = Path(__file__).parents[2]
JOBS = 30


def test_eight_processes_share_the_jobs_and_each_is_done_once(tmp_path: Path) -> None:
    processes = [
        subprocess.Popen(
            [forked_python(), "-m", "tests.memory._helpers.claiming_process", str(tmp_path / "state.db"), str(JOBS), str(seed)],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for seed in range(8)
    ]  # fmt: skip
    try:
        for process in processes:
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        outputs = [process.communicate(timeout=120)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
    assert [process.returncode for process in processes] == [0] * 8
    lines = [line for output in outputs for line in output.splitlines()]
    claimed = Counter(line for line in lines if line.startswith("extract"))
    # A failed one waits an hour, and here none passes.
    assert claimed == Counter(f"extract {number}" for number in range(JOBS))
    whole = [line for line in lines if line.startswith("consolidate")]
    assert len(whole) == len(set(whole)) > 0


def test_killed_anywhere_nothing_is_learned_twice_or_lost(tmp_path: Path) -> None:
    count = rounds(8, 200)
    done = subprocess.run(
        [forked_python(), "-m", "tests.memory._helpers.killed_memory", str(tmp_path), str(count), "1"],
        cwd=ROOT, capture_output=True, text=True, timeout=3600, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["wrong"] == []
    assert found["killed"] > count // 4
