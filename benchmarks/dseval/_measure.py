"""Plays all problem sets, and tells how many problems pass."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..results import Result, result
from ._play import REFERENCE_FAILS, Played, Verdict, alone, play

_SUITES: Final = ("exercise", "kaggle", "leetcode", "so")
_GOAL: Final = 98.0
_AT_ONCE: Final = 2


def measure() -> list[Result]:
    """Nothing is measured, and said so, where the benchmark is not there."""
    place = os.environ.get("DSEVAL")
    if not place:
        print("dseval: NOT MEASURED: set DSEVAL to a checkout of the benchmark", file=sys.stderr)
        return []
    # Kernels find it as the environment of this program.
    if packages := os.environ.get("DSEVAL_PACKAGES"):
        os.environ["PYTHONPATH"] = os.pathsep.join([packages, os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    chosen = os.environ.get("DSEVAL_SETS", "").split()
    files = [
        file
        for suite in _SUITES
        for file in sorted(Path(place).resolve().glob(f"benchmarks/{suite}/*.py"))
        if not chosen or file.stem in chosen
    ]
    return _results(asyncio.run(_all(Path(place).resolve(), files)))


async def _all(dseval: Path, files: list[Path]) -> list[_Set]:
    free = asyncio.Semaphore(_AT_ONCE)

    async def one(file: Path) -> _Set:
        async with free:
            with _folder() as folder:
                bare = await asyncio.to_thread(alone, dseval, file, folder)
            with _folder() as folder:
                played = await play(dseval, file, folder)
        found = _Set(file.stem, bare, played)
        for line in found.lines():
            print(f"dseval: {line}", file=sys.stderr, flush=True)
        return found

    return await asyncio.gather(*map(one, files))


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="hdsp-dseval-") as made:
        folder = Path(made, "work")
        folder.mkdir()
        yield folder


@dataclass(frozen=True)
class _Set:
    """A problem set, without the agent and with it."""

    name: str
    bare: list[Verdict]
    played: Played

    @property
    def judged(self) -> list[tuple[Verdict, Verdict]]:
        """The problems whose reference runs here: a file may be missing, a package be of another time."""
        pairs = zip(self.bare, self.played.verdicts, strict=True)
        return [(bare, ours) for bare, ours in pairs if not bare.reason.startswith(REFERENCE_FAILS)]

    def lines(self) -> Iterator[str]:
        """What is to be looked at."""
        for bare in self.bare:
            if bare.reason.startswith(REFERENCE_FAILS):
                yield f"{bare.problem} and what follows cannot be judged: {bare.reason}"
                break
        for bare, ours in self.judged:
            if bare.passed != ours.passed:
                yield f"{ours.problem} passes {'alone' if bare.passed else 'through the tools only'}: {ours.reason}"
        for name in self.played.strange:
            yield f"{self.name}: nobody's code made the name {name}"


def _results(sets: list[_Set]) -> list[Result]:
    pairs = [pair for one in sets for pair in one.judged]
    whole = sum(len(one.bare) for one in sets)
    cells = sum(one.played.cells for one in sets)
    strange = [name for one in sets for name in one.played.strange]
    passed = 100 * sum(ours.passed for _, ours in pairs) / len(pairs)
    alone = 100 * sum(bare.passed for bare, _ in pairs) / len(pairs)
    return [
        result(
            "dseval.passed", f"DSEval's validators pass what was played through the tools, of the {len(pairs)} of {whole} "
            "problems whose references run here; baseline: the references alone", passed, "%",
            goal=f">= {_GOAL:g} %", met=passed >= _GOAL, runs=len(pairs), baseline=alone,
        ),
        result(
            "dseval.names", f"names in the kernel that nobody's code made, after {cells} cells", len(strange), "names",
            goal="0", met=not strange, runs=cells,
        ),
    ]  # fmt: skip
