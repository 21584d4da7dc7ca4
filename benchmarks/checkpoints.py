"""What checkpoints of files cost, beside raw git doing the same and beside a walk that only looks at every file."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median

from hdsp_agent.checkpoints import AsyncFileCheckpoints, FileLimits

from .results import Result, result

SIZES = (1_000, 10_000, 50_000)
RUNS = 7
FIRST_RUNS = 3
CHANGED = 200
_LIMITS = FileLimits(files=100_000, walk_seconds=60, total_bytes=1_000_000_000, watch=False)
_SETTLE = 0.3
"""Files younger than a tick of the clock are read again; no agent is that fast, and git does the same."""


def _make(root: Path, count: int) -> list[Path]:
    """A tree of mostly text, 3.6 kB a file, twenty files a folder."""
    chance = random.Random(count)
    words = [bytes(chance.choices(b"abcdefghijklmnopqrstuvwxyz_", k=chance.randrange(2, 10))) for _ in range(5_000)]
    files: list[Path] = []
    for number in range(count):
        path = root / f"d{number // 400}" / f"e{number // 20 % 20}" / f"file{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b" ".join(chance.choices(words, k=chance.randrange(200, 900))) + b"\n")
        files.append(path)
    return files


class _Git:
    """Raw git with a folder of its own, as few processes as it takes."""

    def __init__(self, root: Path, store: Path) -> None:
        self._command = ["git", "--git-dir", str(store), "--work-tree", str(root), "-c", "gc.auto=0"]
        self._command += ["-c", "user.name=x", "-c", "user.email=x", "-c", "core.untrackedCache=true"]
        self._root = root

    def __call__(self, *arguments: str) -> None:
        subprocess.run(
            [*self._command, *arguments], cwd=self._root, check=True, capture_output=True,
            env={**os.environ, "GIT_CONFIG_NOSYSTEM": "1"},
        )  # fmt: skip

    def first(self) -> None:
        """The first snapshot."""
        self("init", "-q")
        self.save()

    def save(self) -> None:
        """Another one."""
        self("add", "-A")
        self("commit", "-q", "--no-verify", "--allow-empty", "-m", "x")


def _walk(root: Path) -> None:
    """The floor: every file is looked at, nothing else is done."""
    folders = [os.fsencode(root)]
    while folders:
        with os.scandir(folders.pop()) as listing:
            for entry in listing:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                else:
                    entry.stat(follow_symlinks=False)


def _milliseconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def _bytes_below(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


class _Race:
    """Both on the same tree, in turns."""

    def __init__(self, folder: Path, count: int, loop: asyncio.AbstractEventLoop) -> None:
        self._folder, self._run = folder, loop.run_until_complete
        self.root = folder / "workspace"
        self.files = _make(self.root, count)
        self.count = count
        self._number = 0
        time.sleep(_SETTLE)

    def first(self) -> tuple[list[float], list[float]]:
        """First snapshots into fresh stores; the last ones stay for what follows."""
        ours: list[float] = []
        gits: list[float] = []
        for number in range(FIRST_RUNS):
            self.store, self.git_store = self._folder / f"ours{number}", self._folder / f"git{number}"
            self.git = _Git(self.root, self.git_store)
            gits.append(_milliseconds(self.git.first))
            self.checkpoints = AsyncFileCheckpoints(self.root, self.store, _LIMITS)
            ours.append(_milliseconds(self._save))
            if number < FIRST_RUNS - 1:
                shutil.rmtree(self.store)
                shutil.rmtree(self.git_store)
        return ours, gits

    def changed(self) -> tuple[list[float], list[float]]:
        """Saves of one changed file."""
        return self._saves(1)

    def unchanged(self) -> tuple[list[float], list[float]]:
        """Saves of nothing, beside the bare walk."""
        ours = [_milliseconds(self._save) for _ in range(RUNS)]
        return ours, [_milliseconds(lambda: _walk(self.root)) for _ in range(RUNS)]

    def diff(self) -> tuple[list[float], list[float]]:
        """All hunks of 200 changed files, each time of a state that nobody has looked at yet, as after a step of an agent."""
        ours: list[float] = []
        gits: list[float] = []
        for _ in range(RUNS):
            self._saves(CHANGED, runs=1)
            newest = self._run(self.checkpoints.list(limit=1))[0].id
            ours.append(_milliseconds(partial(self._changes, newest)))
            gits.append(_milliseconds(lambda: self.git("diff", "HEAD~1", "HEAD")))
        return ours, gits

    def watched(self) -> tuple[list[float], list[float]] | None:
        """Saves of one changed file where the system tells what changed; None if nothing is there to ask it."""
        if find_spec("watchfiles") is None:
            return None
        alone, self.checkpoints = (
            self.checkpoints,
            AsyncFileCheckpoints(self.root, self.store, replace(_LIMITS, watch=True)),
        )
        try:
            # One walk to know the files, one from which on changes are told.
            for _ in range(2):
                self._save()
            return self._saves(1)
        finally:
            self._run(self.checkpoints.close())
            self.checkpoints = alone

    def restore(self) -> tuple[list[float], list[float]]:
        """Going back over 200 changed files: ours with a snapshot before and a look afterwards, git's with neither."""
        ours: list[float] = []
        gits: list[float] = []
        for _ in range(RUNS):
            target = self._run(self.checkpoints.list(limit=1))[0].id
            self._edit(CHANGED)
            gits.append(_milliseconds(lambda: self.git("reset", "--hard", "-q", "HEAD")))
            self._edit(CHANGED)
            time.sleep(_SETTLE)
            ours.append(_milliseconds(partial(self._back, target)))
            self.git.save()
        return ours, gits

    def second_task(self) -> tuple[float, float]:
        """How many bytes another task in the same workspace adds, and how many there were."""
        before = _bytes_below(self.store)
        self._run(AsyncFileCheckpoints(self.root, self.store, _LIMITS).save("second task", message_ts=1))
        return _bytes_below(self.store) - before, before

    def _changes(self, checkpoint: str) -> None:
        self._run(self.checkpoints.changes(checkpoint))

    def _back(self, target: str) -> None:
        self._run(self.checkpoints.restore(target, overwrite_conflicts=True))

    def _save(self) -> None:
        self._run(self.checkpoints.save("save"))

    def _saves(self, changed: int, runs: int = RUNS) -> tuple[list[float], list[float]]:
        ours: list[float] = []
        gits: list[float] = []
        for _ in range(runs):
            self._edit(changed)
            time.sleep(_SETTLE)
            gits.append(_milliseconds(self.git.save))
            ours.append(_milliseconds(self._save))
        return ours, gits

    def _edit(self, count: int) -> None:
        self._number += 1
        for path in self.files[:: max(1, len(self.files) // count)][:count]:
            path.write_bytes(path.read_bytes() + b"# edit %d\n" % self._number)


def _compared(
    name: str, what: str, times: tuple[list[float], list[float]], count: int, most: float, goal: str
) -> Result:
    ours, theirs = median(times[0]), median(times[1])
    met = ours <= most * theirs
    return result(
        f"checkpoint.{name}@{count}", what, ours, "ms", baseline=theirs, goal=goal, met=met, runs=len(times[0])
    )


def _measure(count: int) -> list[Result]:
    with tempfile.TemporaryDirectory() as folder, closing(asyncio.new_event_loop()) as loop:
        race = _Race(Path(folder), count, loop)
        results = [
            _compared("first", f"first save of {count:,} files, beside git", race.first(), count, 0.5, "<= 0.5x"),
            _compared("save", "save of one changed file, beside git", race.changed(), count, 1.3, "<= 1.3x"),
            _compared("unchanged", "save of nothing, beside a bare walk", race.unchanged(), count, 3, "<= 3x"),
            _compared("diff", f"diff of {CHANGED} files, beside git", race.diff(), count, 0.2, "<= 0.2x"),
            _compared(
                "restore", f"restore of {CHANGED} files with an undo snapshot, beside git without", race.restore(), count, 1.8,
                "<= 1.8x",
            ),
        ]  # fmt: skip
        watched = race.watched()
        if watched is not None:
            what = "save of one changed file that the system told of, beside git"
            results.append(_compared("save_watched", what, watched, count, 1 / 3, "<= 0.33x"))
        added, before = race.second_task()
        results.append(
            result(
                f"checkpoint.second_task@{count}", "bytes another task adds, beside the store", added, "bytes",
                baseline=before, goal="<= 1 %", met=added <= 0.01 * before, runs=1,
            )
        )  # fmt: skip
        loop.run_until_complete(race.checkpoints.close())
        loop.run_until_complete(loop.shutdown_default_executor())
        return results


def measure() -> list[Result]:
    """All claims about the files of checkpoints."""
    return [entry for count in SIZES for entry in _measure(count)]
