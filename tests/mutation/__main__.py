"""``python -m tests.mutation``: exits 1 where too few mutants are killed, or one survives that nobody explains."""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.mutation.mutants import mutants_of
from tests.mutation.running import Job, Result, preload, run_all
from tests.mutation.targets import TARGETS

_GOAL: Final = 0.95
_SURVIVORS: Final = Path(__file__).with_name("survivors.toml")
_LEAST_SECONDS: Final = 30.0
_TIMES: Final = 8.0
_TELL_EVERY: Final = 50


@dataclass(frozen=True)
class _Options:
    sample: int | None
    seed: int
    jobs: int
    only: tuple[str, ...]
    mutants: tuple[str, ...]
    minutes: float
    report: Path | None


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the mutants, and say what became of them."""
    options = _options(arguments)
    chosen = _chosen(options)
    explained = _explained()
    preload()
    seconds = _baseline({test for _, _, _, tests in chosen for test in tests}, options.jobs)
    deadline = time.monotonic() + options.minutes * 60
    jobs = (
        Job(file, number, name, tests, sum(seconds[test] for test in tests) * _TIMES + _LEAST_SECONDS)
        for file, number, name, tests in chosen
    )
    results: list[Result] = []
    for result in run_all(_until(deadline, jobs), at_a_time=options.jobs):
        results.append(result)
        if len(results) % _TELL_EVERY == 0:
            print(f"{len(results)} of {len(chosen)} tried", flush=True)
        if result.outcome != "killed":
            known = "  [explained]" if result.job.name in explained else ""
            print(f"{result.outcome.upper()} {result.job.name}{known}", flush=True)
    return _report(results, len(chosen), explained, options)


def _options(arguments: Sequence[str] | None) -> _Options:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--sample", type=int, help="how many mutants; all without it")
    parser.add_argument("--seed", type=int, default=17, help="chooses the sample")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time")
    parser.add_argument("--only", action="append", default=[], help="files whose path has this in it; may be repeated")
    parser.add_argument("--mutant", action="append", default=[], help="just the one of this name; may be repeated")
    parser.add_argument("--minutes", type=float, default=90.0, help="begin none after so long")
    parser.add_argument("--report", type=Path, help="write all results to this file, as JSON")
    given = parser.parse_args(arguments)
    only, mutants = tuple(given.only), tuple(given.mutant)
    return _Options(given.sample, given.seed, given.jobs, only, mutants, given.minutes, given.report)


def _chosen(options: _Options) -> list[tuple[str, int, str, tuple[str, ...]]]:
    every = [
        (file, number, mutant.name, tests)
        for file, tests in TARGETS.items()
        if Path(file).exists() and (not options.only or any(part in file for part in options.only))
        for number, mutant in enumerate(mutants_of(Path(file).read_text("utf-8"), file)[1])
        if not options.mutants or mutant.name in options.mutants
    ]
    if options.sample is None or options.sample >= len(every):
        return every
    # In the order drawn: what a run that ends early has tried is a sample as well.
    return random.Random(options.seed).sample(every, options.sample)


def _explained() -> dict[str, str]:
    known = tomllib.loads(_SURVIVORS.read_text("utf-8"))
    return {entry["mutant"]: entry["reason"] for entry in known.get("survivor", [])}


def _baseline(files: set[str], at_a_time: int) -> dict[str, float]:
    """How long the tests of each file take on the code as it is; they must pass."""
    anything = next(iter(TARGETS))
    jobs = [Job(anything, None, "as it is", (file,), 1_200.0) for file in sorted(files)]
    found: dict[str, float] = {}
    for result in run_all(jobs, at_a_time=at_a_time):
        if result.outcome != "survived":
            raise SystemExit(f"These tests fail without any mutant: {result.job.tests[0]}")
        found[result.job.tests[0]] = result.seconds
    return found


def _until(deadline: float, jobs: Iterator[Job]) -> Iterator[Job]:
    for job in jobs:
        if time.monotonic() > deadline:
            return
        yield job


def _report(results: list[Result], chosen: int, explained: dict[str, str], options: _Options) -> int:
    survivors = [result.job.name for result in results if result.outcome == "survived"]
    unexplained = [name for name in survivors if name not in explained]
    by_file: Counter[tuple[str, str]] = Counter((result.job.file, result.outcome) for result in results)
    print()
    for file in sorted({result.job.file for result in results}):
        total = sum(count for (name, _), count in by_file.items() if name == file)
        print(f"{total - by_file[file, 'survived']:5} of {total:5} killed  {file}")
    killed = len(results) - len(survivors)
    rate = killed / len(results) if results else 0.0
    print(
        f"{killed:5} of {len(results):5} killed ({rate:.1%}), {len(survivors) - len(unexplained)} survivors explained."
    )
    if len(results) < chosen:
        print(f"{chosen - len(results)} were not tried within {options.minutes:g} minutes.")
    if options.report is not None:
        lines = [
            {"mutant": each.job.name, "outcome": each.outcome, "seconds": round(each.seconds, 2)} for each in results
        ]
        options.report.write_text(json.dumps(lines, indent=1), encoding="utf-8")
    for name in unexplained:
        print(f"Not explained in {_SURVIVORS.name}: {name}")
    if rate < _GOAL:
        print(f"Fewer than {_GOAL:.0%} were killed.")
    return 1 if unexplained or rate < _GOAL else 0


if __name__ == "__main__":
    sys.exit(main())
